"""Commands that try to look like other commands, and how they must be shown to a person."""

import json

ATTACKS = {
    "a line is erased": ("echo safe\r\x1b[2Krm -rf x", r"echo safe\r\x1b[2Krm -rf x"),
    "a second line": ("echo safe\nrm -rf x", r"echo safe\nrm -rf x"),
    "a newline in letters": (r"echo safe\nrm -rf x", r"echo safe\\nrm -rf x"),
    "override": ("echo \u202ex fr- mr", r"echo \u202ex fr- mr"),
    "isolates": ("a\u2066b\u2067c\u2068d\u2069", r"a\u2066b\u2067c\u2068d\u2069"),
    "zero width": ("r\u200bm\u200c \u200d-\u200er\u200ff", r"r\u200bm\u200c \u200d-\u200er\u200ff"),
    "line separators": ("a\u2028b\u2029c\u0085d", r"a\u2028b\u2029c\x85d"),
    "C1": ("a\u009b2Jb", r"a\x9b2Jb"),
    "out of sight": (f"echo safe{' ' * 10_000}; rm -rf x", r"echo safe\x20{10000}; rm -rf x"),
    "far to the right": (f"echo {'x' * 3000}; rm -rf x", f"echo {'x' * 3000}; rm -rf x"),
    "a forged length": ("ls (5 characters)\n: x", r"ls (5 characters)\n: x"),
    "tags": ("ls \U000e0041\U000e0042", r"ls \U000e0041\U000e0042"),
    "fillers": ("a\u3164b\u2800c", r"a\u3164b\u2800c"),
    "our own mark": ("ls\n▌ [y]es > ", "ls\\n▌ [y]es >\\x20"),
}


def asking_for(command: str) -> str:
    """A message that makes the demo model ask for this command."""
    return f"call execute {json.dumps({'command': command})}"
