"""Contrast by WCAG 2, and how far colours lie apart for whoever sees fewer of them.

Colour blindness after Machado, Oliveira and Fernandes (2009), distance as CIE 1976 in Lab.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations

Linear = tuple[float, float, float]
TOKEN = re.compile(r"--([\w-]+): light-dark\((#[0-9a-fA-F]{6}), (#[0-9a-fA-F]{6})\)")
SIGHTS: dict[str, tuple[Linear, Linear, Linear]] = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_TO_XYZ: tuple[Linear, Linear, Linear] = (
    (0.4124, 0.3576, 0.1805),
    (0.2126, 0.7152, 0.0722),
    (0.0193, 0.1192, 0.9505),
)
_WHITE = (0.95047, 1.0, 1.08883)


def tokens(css: str) -> dict[str, tuple[str, str]]:
    """Return each colour of tokens.css, light and dark."""
    return {name: (light, dark) for name, light, dark in TOKEN.findall(css)}


def mixed(colour: str, surface: str, share: float) -> str:
    """Return what `color-mix(in srgb, colour share, surface)` shows."""
    pairs = zip(_bytes(colour), _bytes(surface), strict=True)
    return "#" + "".join(f"{round(own * share + below * (1 - share)):02x}" for own, below in pairs)


def contrast(one: str, other: str) -> float:
    """Return the ratio of their luminances, 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def closest(colours: Sequence[str], sight: str) -> float:
    """Return the distance of the two that look most alike to this sight."""
    seen = [_lab(_product(SIGHTS[sight], _linear(each))) for each in colours]
    return min(math.dist(one, other) for one, other in combinations(seen, 2))


def _bytes(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _linear(colour: str) -> Linear:
    red, green, blue = (_light_of(each / 255) for each in _bytes(colour))
    return red, green, blue


def _light_of(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def _luminance(colour: str) -> float:
    return sum(a * b for a, b in zip(_TO_XYZ[1], _linear(colour), strict=True))


def _product(matrix: tuple[Linear, Linear, Linear], vector: Linear) -> Linear:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three


def _lab(light: Linear) -> Linear:
    x, y, z = (
        _root(max(each, 0) / white)
        for each, white in zip(_product(_TO_XYZ, light), _WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    return share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116
