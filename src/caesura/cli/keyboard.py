"""The keyboard: reads one line at a time from a terminal or a pipe."""

from __future__ import annotations

from caesura.cli import streams, typeahead
from caesura.cli.screen import asking


class Keyboard:
    """Ctrl-C raises `KeyboardInterrupt`, the end of input `EOFError`."""

    def __init__(self) -> None:
        self.human = streams.human()
        if self.human:
            import readline

            self._readline = readline

    def ask(self, prompt: str, prefill: str = "") -> str:
        """The answer to a question. Keys pressed before the question was shown do not count."""
        typeahead.drop()
        return self.line(asking(prompt), prefill)

    def line(self, prompt: str, prefill: str = "") -> str:
        """A line. A line that ends in a backslash continues on the next."""
        text = self._input(prompt, prefill)
        while text.endswith("\\"):
            text = f"{text[:-1]}\n{self._input('... ')}"
        return text.strip()

    def _input(self, prompt: str, prefill: str = "") -> str:
        if not self.human:
            return streams.line()
        self._readline.set_startup_hook(lambda: self._readline.insert_text(prefill) if prefill else None)
        try:
            return streams.line(prompt)
        finally:
            self._readline.set_startup_hook()
