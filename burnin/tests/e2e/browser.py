"""A real browser that complains: of console errors, foreign requests, what keeps people out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Request, Response, sync_playwright

CHROMIUM = "/usr/bin/chromium"
LOOK_S = 20
BAD = frozenset({"serious", "critical"})
DESK, PHONE = {"width": 1440, "height": 1000}, {"width": 390, "height": 844}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SCREENSHOTS = os.environ.get("FM_SCREENSHOTS", "")  # a directory, for whoever wants to look


class Visitor:
    """One person with one window. `complaints` fills by itself while pages are read."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin = page, origin
        self.complaints: list[str] = []
        page.set_default_timeout(LOOK_S * 1000)
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        page.on("request", self._see_request)
        page.on("response", self._see_response)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.origin}{path}")

    def log_in(self, name: str, password: str) -> None:
        self.go("/login")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"{self.origin}/")

    def look(self, name: str) -> None:
        """Look at the page as it stands, light and dark, at a desk and on a phone."""
        for scheme in SCHEMES:
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self._ask_axe(f"{name}, {scheme}")
            self._keep(f"{name}-{scheme}")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        if wide > PHONE["width"]:
            self.complaints.append(f"{name}: {wide} px wide on a phone of {PHONE['width']}")
        self._keep(f"{name}-390")
        self.page.set_viewport_size(DESK)  # type: ignore[arg-type]

    def _ask_axe(self, where: str) -> None:
        found = Axe().run(self.page).response["violations"]
        self.complaints += [
            f"{where}: {each['id']} ({each['impact']}): {each['nodes'][0]['html'][:200]}"
            for each in found
            if each["impact"] in BAD
        ]

    def _keep(self, name: str) -> None:
        if SCREENSHOTS:
            self.page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)

    def _hear(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.complaints.append(f"console: {text}")

    def _see_request(self, request: Request) -> None:
        if request.is_navigation_request():
            return  # what a person follows, such as a download from the store
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.complaints.append(f"a request to elsewhere: {request.url[:200]}")

    def _see_response(self, response: Response) -> None:
        if response.status >= 500:
            self.complaints.append(f"{response.status} from {response.url[:200]}")


@contextmanager
def visitor(origin: str) -> Iterator[Visitor]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page(viewport=DESK, base_url=origin, accept_downloads=True)  # type: ignore[arg-type]
        yield Visitor(page, origin)
        browser.close()
