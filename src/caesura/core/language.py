"""The language of a text, as far as Caesura distinguishes languages: Chinese or English."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["zh", "en"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def of(text: str) -> Language:
    return "zh" if _HAN.search(text) else "en"
