"""All pictures of the states on one page, each beside the drawn design."""

from html import escape
from pathlib import Path

DRAWN = Path(__file__).with_name("drawn")
_STYLE = """
body { font: 14px system-ui; margin: 24px; background: #888; color: #fff }
section { margin-bottom: 32px } div { display: flex; flex-wrap: wrap; gap: 12px; align-items: start }
img { width: 720px } img[src*="phone"] { width: 260px } h2 { font-size: 16px }
"""
_LOOKS = ("light", "dark", "phone", "zh", "zh-dark", "phone-zh", "phone-dark")


def write(folder: Path, states: list[str]) -> Path:
    """Write `index.html` beside the pictures. On the left is what was drawn, where it was drawn."""
    parts = [part for state in states for part in _state(folder, state)]
    page = f"<!doctype html><meta charset=utf-8><title>States</title><style>{_STYLE}</style>{''.join(parts)}"
    path = folder / "index.html"
    path.write_text(page)
    return path


def _state(folder: Path, state: str) -> list[str]:
    found = []
    for look in _LOOKS:
        drawn, ours = DRAWN / f"{look}-{state}.webp", folder / f"{look}-{state}.png"
        if state == "drawer":
            drawn = DRAWN / "phone-drawer.webp"
        if ours.exists():
            pictures = [drawn.as_uri()] if drawn.exists() else []
            shown = "".join(f'<img src="{escape(source)}">' for source in [*pictures, ours.name])
            found.append(f"<section><h2>{escape(look)}: {escape(state)}</h2><div>{shown}</div></section>")
    return found
