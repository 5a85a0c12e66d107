"""The images that a site offers are a plain mapping, or are refused."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from fleet.models.inventory import container_images


@pytest.mark.parametrize("good", [{}, {"dcgm": "nvcr.io#nvidia/dcgm:4.3.1"}, {"a": "/i/a.sqsh"}])
def test_a_mapping_of_names_to_images_is_taken(good: object) -> None:
    container_images(good)


@pytest.mark.parametrize("bad", [[], "image", None, {"a": 1}, {"a": ""}, {"a": "two words"}])
def test_anything_else_is_refused_with_an_example(bad: object) -> None:
    with pytest.raises(ValidationError, match="must map names to images, like"):
        container_images(bad)
