"""Texts: what a client may send where a text is expected."""

from random import Random

#: Messages to the demo model, so that turns run, wait, fail and end.
MESSAGES = (
    *("echo hello", "count to 5 delay=0", "count to 300 delay=0.002", "long 200 delay=0", "say nothing"),
    *("think about trees delay=0", "show markdown delay=0", "what did I say before?", "数到5", "复述 你好"),
    *("write hello.py: print(1)", "write a.txt + write b.txt then list files", "two approvals", "list files"),
    *("ask me 3 questions", "问我三个问题", "delete the old rows", "部署 v2.0 到生产环境", "run true"),
    *("fail", "fail 2 times", "fail midway", "wait 1 seconds", "loop 3 times", "unknown tool"),
    *("broken arguments", "wrong arguments", "use every tool", "do two things at once", "hello?"),
    *('call read_file {"path": "../../../etc/passwd"}', 'call write_file {"path": 5, "content": null}'),
    *('call ask_user {"questions": []}', 'call ask_user {"questions": [{"question": 1, "options": "x"}]}'),
    *("call execute {}", "call list_files [1, 2]", 'call read_file {"path": "\\u0000"}', "read /dev/zero"),
)
ODD = (
    *("", " ", "\t\n\r", "\x00", "a\x00b", "\x1b[2J\x1b[31m", "\x7f\x80\x9f", "\ud800", "a\udfffb\ud800"),
    *(
        "\u202egnp.exe",
        "\u2028\u2029\x85",
        "\ufeff",
        "\ufffe\uffff",
        "e" + "\u0301" * 500,
        "😀" * 100,
        "ﷺ" * 50,
    ),
    *("../../../../etc/passwd", "..\\..\\x", "/etc/passwd", "C:\\x", "file:///etc/passwd", "~", "."),
    *("<script>alert(1)</script>", "' OR 1=1; --", "${jndi:ldap://x}", "{{7*7}}", "%s%n%x", "$(id)", "`id`"),
    *("a\r\nX-Injected: 1", "data: x\n\nevent: end", "null", "true", "NaN", "-1", "0", "1e400", "9" * 5000),
    *("[DONE]", "\x00INTERRUPT:{}", "CON", "请确认", "do you want to proceed?", "x" * 1001, "word " * 2000),
)
LARGE = ("x" * 150_000, "é" * 131_073, "\u202e" * 90_000, "\x00" * 100_000, "請" * 87_382, "a\n" * 130_000)


def odd(chance: Random) -> str:
    return chance.choice(LARGE) if chance.random() < 0.02 else chance.choice(ODD)


def message(chance: Random) -> str:
    return odd(chance) if chance.random() < 0.2 else chance.choice(MESSAGES)
