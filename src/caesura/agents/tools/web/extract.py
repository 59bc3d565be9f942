"""A program of its own: reads a fetched page from a file descriptor, and writes its text as Markdown.

The file begins with a line of JSON about the page, which other users of the machine could read among the
arguments of a program. The page may be made to harm whoever reads it. So this process has nothing of the
server's: it may not open files, connect, start programs or grow, and the server kills it when it takes too
long. It imports nothing of Caesura.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

if TYPE_CHECKING:
    from turbohtml import Document, Element

#: Characters of the result.
LONGEST = 100_000
_LONGEST_TITLE = 300
_MEMORY = 1024 * 1024 * 1024
_CPU_SECONDS = 10
#: What surrounds the content of a page, or is not shown.
_AROUND = (
    "nav, aside, footer, body > header, script, style, template, noscript, iframe, svg, dialog, [hidden],"
    " [aria-hidden=true], [role=navigation], [role=banner], [role=contentinfo], [role=complementary],"
    " [role=search], [role=dialog]"
)
_NOT_LINKS = 'a[href^="javascript:" i], a[href^="data:" i]'
#: Control characters, and what hides or reorders text.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAKS = re.compile("\r\n?|[\u2028\u2029\u0085]")
_GAPS = re.compile(r"\n{3,}")


class Text(NamedTuple):
    title: str
    text: str
    cut: bool


def main() -> None:
    import turbohtml.detect  # noqa: F401 - before files can no longer be opened

    with open(int(sys.argv[1]), "rb") as file:
        about, data = json.loads(file.readline()), file.read()
    _give_up_rights()
    charset = about["charset"]
    found = html(data, charset, about["url"]) if about["kind"] == "html" else plain(data, charset)
    sys.stdout.buffer.write(json.dumps(found._asdict()).encode())


def html(data: bytes, charset: str, url: str) -> Text:
    """The title and the main content of a page. If the main content is only a small part of the text, as on
    a page of many answers, the whole page is taken, without what surrounds it."""
    from turbohtml import Markdown

    document = _parsed(data, charset)
    heading = document.select_one("title")
    title = clean(" ".join(heading.text.split()))[:_LONGEST_TITLE] if heading is not None else ""
    base = document.select_one("base[href]")
    document.resolve_links(_joined(url, str(base.attrs["href"])) if base is not None else url)
    document.remove(_AROUND)
    for link in document.select(_NOT_LINKS):
        del link.attrs["href"]
    form = Markdown(images=Markdown.Images(mode="alt"), tables=Markdown.Tables(cell_blocks="text"))
    return _bounded(title, _content(document).to_markdown(form))


def plain(data: bytes, charset: str) -> Text:
    from turbohtml.detect import detect

    for codec in (f"whatwg-{charset.lower()}", detect(data).codec or "utf-8"):
        try:
            return _bounded("", data.decode(codec, "replace"))
        except (LookupError, ValueError):
            continue
    return _bounded("", data.decode("utf-8", "replace"))


def clean(text: str) -> str:
    """The text without control characters and characters that hide or reorder text."""
    return _UNFIT.sub("", _BREAKS.sub("\n", text))


def _parsed(data: bytes, charset: str) -> Document:
    import turbohtml

    try:
        return turbohtml.parse(data, encoding=charset or None, detect_encoding=True, positions=False)
    except LookupError:  # no such character set
        return turbohtml.parse(data, detect_encoding=True, positions=False)


def _content(document: Document) -> Document | Element:
    main = document.main_content()
    if main is None or 3 * len(main.text) < len(document.text):
        return document
    return main


def _joined(url: str, base: str) -> str:
    try:
        return urljoin(url, base)
    except ValueError:
        return url


def _bounded(title: str, text: str) -> Text:
    # The text is cut first: cleaning takes as long as the text is.
    found = _GAPS.sub("\n\n", clean(text[: 4 * LONGEST])).strip()
    return Text(title, found[:LONGEST], len(text) > 4 * LONGEST or len(found) > LONGEST)


def _give_up_rights() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
