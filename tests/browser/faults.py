"""What goes wrong in a page and no person sees: errors on the console, scripts that fail, requests that the
page's policy forbids. A test with such a fault fails."""

import re

from playwright.async_api import BrowserContext, ConsoleMessage, WebError

#: A page asks who is there before anybody has signed in.
_USUAL = (r"status of 401 .*/api/auth/session$",)


class Faults:
    """The faults of all pages of some contexts. Chromium tells a violation of the policy on the console."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._expected: list[str] = list(_USUAL)

    @property
    def unexpected(self) -> list[str]:
        return [fault for fault in self._found if not any(re.search(part, fault) for part in self._expected)]

    def expect(self, *patterns: str) -> None:
        """These faults belong to the test, such as requests that fail while the network is cut."""
        self._expected.extend(patterns)

    def watch(self, context: BrowserContext) -> None:
        context.on("console", self._told)
        context.on("weberror", self._thrown)

    def _told(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self._found.append(f"{message.text} {message.location.get('url', '')}".strip())

    def _thrown(self, error: WebError) -> None:
        self._found.append(str(error.error))
