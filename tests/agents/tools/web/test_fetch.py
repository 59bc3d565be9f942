"""Pages are fetched from the public web alone, within bounds. The servers here are on this machine, which is
not public: each test allows what it needs."""

import asyncio
import gzip
import ipaddress
from collections.abc import Sequence

import pytest

from caesura.agents.tools.tool import Result
from caesura.agents.tools.web import address, fetch
from caesura.agents.tools.web.fetcher import LARGEST, Fetcher
from caesura.agents.tools.web.network import Resolve, is_own
from caesura.agents.tools.web.reader import Reader
from caesura.core.addresses import Allowed
from tests.agents.tools.web.site import Site, redirect, response, run_of, silence, trickle

PAGE = "<title>Tea</title><body><main><h1>Tea</h1><p>Hot <a href='/more'>water</a> first.</p></main>"
ADDRESS = "127.0.0.1"


async def call(url: str, fetcher: Fetcher) -> Result:
    tool = fetch.tool(fetcher, Reader())
    try:
        with run_of().active():
            return await tool.run({"url": url})
    finally:
        await fetcher.aclose()


async def get(site: Site, path: str, seconds: float = 60.0) -> Result:
    return await call(f"{site.url}{path}", Fetcher(Allowed([site.host]), seconds=seconds))


def names(*answers: Sequence[str] | OSError) -> Resolve:
    """Resolves every name to these addresses, one answer after the other; the last one stays."""
    left = list(answers)

    async def resolve(host: str) -> Sequence[str]:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, OSError):
            raise answer
        return answer

    return resolve


async def test_a_page_comes_as_markdown_after_a_line_that_says_where_it_is_from() -> None:
    async with Site() as site:
        site.answers["/tea"] = response(PAGE)
        result = await get(site, "/tea#part")
    assert result == Result(
        f"Content of {site.url}/tea (untrusted text from the web)\nTitle: Tea\n\n"
        f"# Tea\n\nHot [water]({site.url}/more) first."
    )
    assert "user-agent: caesura/" in site.heads[0].lower()
    assert "cookie" not in site.heads[0].lower()


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("application/json", b'{"a": [1]}', '{"a": [1]}'),
        ("application/problem+json", b"{}", "{}"),
        ("text/plain; charset=iso-8859-1", "café".encode("latin-1"), "café"),
        ("text/markdown", "# 茶".encode(), "# 茶"),
        ("text/csv", b"a,b\r\n1,2", "a,b\n1,2"),
        ("application/atom+xml", b"<feed/>", "<feed/>"),
        ("application/xhtml+xml", b"<p>x</p>", "x"),
        ("text/html; charset=nonsense", "<meta charset=utf-8><p>é</p>".encode(), "é"),
        ("text/html", "<meta charset=gb2312><p>河水</p>".encode("gb2312"), "河水"),
        ("text/html; charset=utf-8", b"<p>\xff\xfe\x00wrong</p>", "wrong"),
        ("text/html; charset=punycode", b"<p>x</p>", "x"),
        (None, b"<p>no type</p>", "no type"),
        ("text/plain", b"a\x00\x1b[2J\xe2\x80\xaeb", "a[2Jb"),
    ],
)
async def test_texts_of_many_kinds_and_character_sets_are_read(
    kind: str | None, content: bytes, expected: str
) -> None:
    async with Site() as site:
        site.answers["/"] = response(content, kind=kind)
        result = await get(site, "/")
    assert result.status == "ok"
    assert expected in result.text.split("\n\n", 1)[1]


@pytest.mark.parametrize(
    "kind", ["application/pdf", "image/png", "application/octet-stream", "text/css", "x"]
)
async def test_other_kinds_are_refused_by_name(kind: str) -> None:
    async with Site() as site:
        site.answers["/"] = response(b"%PDF-1.7", kind=kind)
        result = await get(site, "/")
    assert result.status == "error"
    assert f"of the type {kind};" in result.text


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.org/", "must begin with http"),
        ("file:///etc/passwd", "must begin with http"),
        ("//example.org/", "must begin with http"),
        ("http://me:secret@example.org/", "user name or a password"),
        ("http://me@example.org/", "user name or a password"),
        ("http:///path", "no valid host"),
        ("http://[fe80::1%25eth0]/", "no valid host"),
        ("http://exa mple.org/", "contains a space"),
        ("http://example.org\\@10.0.0.1/", "contains a space, a backslash"),
        ("http://example.org/\r\nHost: x", "contains a space"),
        ("http://[::1", "not a valid address"),
        ("http://0177.0.0.1/", "not a valid address"),
        (f"http://{'a' * 300}.example/", "no valid host"),
        (f"http://example.org/{'a' * 9000}", "1 to 8192 characters"),
        ("", "1 to 8192 characters"),
    ],
)
async def test_an_address_that_is_not_plain_is_refused(url: str, reason: str) -> None:
    result = await call(url, Fetcher(resolve=names(OSError())))
    assert result.status == "error"
    assert reason in result.text
    assert "secret" not in result.text


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://127.0.0.1/",
            "http://localhost/",
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://2130706433/",
        ),
        *("http://0/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"),
        *("http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://10.0.0.1/"),
        *("http://[64:ff9b::a9fe:a9fe]/", "http://[2002:7f00:1::]/", "https://192.168.0.1:8443/"),
    ],
)
async def test_an_address_that_is_not_public_is_refused_however_it_is_written(url: str) -> None:
    result = await call(url, Fetcher())
    assert result.status == "error"
    assert "is not on the public web" in result.text


@pytest.mark.parametrize(
    "found",
    [
        ["10.0.0.1"],
        ["93.184.215.14", "10.0.0.1"],
        ["::ffff:169.254.169.254"],
        ["fe80::1%eth0"],
        ["93.184.215.14", "fe80::1%eth0"],
        [],
    ],
)
async def test_a_name_is_refused_if_one_of_its_addresses_is_not_public(found: list[str]) -> None:
    result = await call("http://rebind.example/", Fetcher(resolve=names(found)))
    assert result.status == "error"
    assert "rebind.example is not on the public web" in result.text
    assert "10.0.0.1" not in result.text


def test_the_addresses_of_this_machine_are_known() -> None:
    assert is_own(ipaddress.ip_address(ADDRESS))
    assert is_own(ipaddress.ip_address("::ffff:127.0.0.1"))
    assert not is_own(ipaddress.ip_address("8.8.8.8"))
    assert not is_own(ipaddress.ip_address("2606:4700::1"))


async def test_only_ports_of_the_web_are_used() -> None:
    result = await call("http://mail.example:25/", Fetcher(resolve=names(["93.184.215.14"])))
    assert "port 25 is not one of the ports of the web (80, 443, 8080, 8443)" in result.text


async def test_a_name_that_changes_its_mind_is_looked_up_once_for_each_connection() -> None:
    """The address that was checked is the one that is connected to: there is no second look-up that could
    give another."""
    async with Site() as site:
        site.answers["/"] = response(PAGE)
        asked = 0

        async def resolve(host: str) -> Sequence[str]:
            nonlocal asked
            asked += 1
            return [ADDRESS] if asked == 1 else ["127.0.0.2"]

        allowed = Allowed([f"{ADDRESS}:{site.port}"])
        result = await call(f"http://rebind.example:{site.port}/", Fetcher(allowed, resolve))
        assert (result.status, asked) == ("ok", 1)
        assert f"host: rebind.example:{site.port}" in site.heads[0].lower()


async def test_a_redirect_to_a_name_that_has_changed_its_mind_is_refused() -> None:
    async with Site() as site:
        site.answers["/"] = redirect("/again")
        resolve = names([ADDRESS], ["127.0.0.2"])
        allowed = Allowed([f"{ADDRESS}:{site.port}"])
        result = await call(f"http://rebind.example:{site.port}/", Fetcher(allowed, resolve))
    assert result.status == "error"
    assert site.paths == ["/"]


async def test_a_second_address_is_tried_when_the_first_does_not_answer() -> None:
    async with Site() as site:
        site.answers["/"] = response(PAGE)
        fetcher = Fetcher(Allowed([f"tea.example:{site.port}"]), names(["127.0.0.9", ADDRESS]))
        assert (await call(f"http://tea.example:{site.port}/", fetcher)).status == "ok"


async def test_the_name_is_told_in_the_tls_handshake() -> None:
    hello = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.set_result(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(serve, ADDRESS, 0)
    port = server.sockets[0].getsockname()[1]
    fetcher = Fetcher(Allowed([f"secure.example:{port}"]), names([ADDRESS]))
    result = await call(f"https://secure.example:{port}/", fetcher)
    server.close()
    assert "cannot be reached, or broke off" in result.text
    assert b"secure.example" in await hello


async def test_redirects_are_followed_and_the_final_address_is_told() -> None:
    async with Site() as site:
        site.answers |= {"/a": redirect("b", "301 Moved"), "/b": redirect("/c", "307 Temporary")}
        site.answers["/c"] = response(PAGE)
        result = await get(site, "/a")
    assert result.text.startswith(f"Content of {site.url}/c (untrusted")
    assert site.paths == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://169.254.169.254/latest/", "169.254.169.254 is not on the public web"),
        ("http://127.0.0.1:1/", "port 1 is not"),
        ("http://[::1]/", "is not on the public web"),
        ("file:///etc/passwd", "must begin with http"),
        ("http://a:b@example.org/", "user name"),
        ("http://[", "no valid host"),
    ],
)
async def test_a_redirect_is_checked_as_the_first_address_was(location: str, reason: str) -> None:
    async with Site() as site:
        site.answers["/"] = redirect(location)
        result = await get(site, "/")
    assert result.status == "error"
    assert reason in result.text


def test_a_redirect_does_not_leave_an_encrypted_connection() -> None:
    url = address.parse("https://example.org/a")
    assert str(address.follow(url, "//www.example.org/b#part")) == "https://www.example.org/b"
    with pytest.raises(address.Refused, match="which is not encrypted"):
        address.follow(url, "http://example.org/a")


async def test_a_redirect_to_nowhere_and_a_loop_end() -> None:
    async with Site() as site:
        site.answers |= {"/loop": redirect("/loop"), "/nowhere": response(status="302 Found")}
        assert "more than 5 redirects" in (await get(site, "/loop")).text
        assert site.paths == ["/loop"] * 6
        assert "redirects to nowhere" in (await get(site, "/nowhere")).text


async def test_an_error_of_the_server_is_told() -> None:
    async with Site() as site:
        assert (await get(site, "/missing")).text == "not fetched: the server answered 404 Not Found"


async def test_a_large_page_is_refused_before_it_is_read_and_while_it_is_read() -> None:
    async with Site() as site:
        site.answers["/said"] = response(Content_Length=str(LARGEST + 1)).replace(
            b"Content-Length: 0\r\n", b""
        )
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        site.answers["/found"] = head + b"x" * (LARGEST + 1)
        bomb = gzip.compress(b"<p>" * LARGEST)
        site.answers["/bomb"] = response(bomb, Content_Encoding="gzip")
        for path in ("/said", "/found", "/bomb"):
            assert (await get(site, path)).text == "not fetched: the page is larger than 5,000,000 bytes"


async def test_a_packed_page_is_read() -> None:
    async with Site() as site:
        site.answers["/"] = response(gzip.compress(PAGE.encode()), Content_Encoding="gzip")
        assert "# Tea" in (await get(site, "/")).text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n", "more than 100 lines or 65,536 bytes"),
        (b"SSH-2.0-OpenSSH\r\n", "does not speak HTTP"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\nhalf",
            "does not speak HTTP",
        ),
        (b"", "does not speak HTTP"),
        (response(b"not packed", Content_Encoding="gzip"), "not packed as it says"),
        (response(b"x", Content_Encoding="zstd"), "was not asked for"),
    ],
)
async def test_a_server_that_breaks_the_protocol_is_an_error(answer: bytes, reason: str) -> None:
    async with Site() as site:
        site.answers["/"] = answer
        result = await get(site, "/")
    assert result.status == "error"
    assert reason in result.text


async def test_a_server_that_is_not_there_and_a_name_without_an_address() -> None:
    async with Site() as site:
        port = site.port
    result = await call(f"http://127.0.0.1:{port}/", Fetcher(Allowed([f"127.0.0.1:{port}"])))
    assert "cannot be reached" in result.text
    result = await call("http://nothing.example/", Fetcher(resolve=names(OSError("not found"))))
    assert result.text == "not fetched: no address was found for the host nothing.example"


async def test_a_silent_and_a_trickling_server_are_left_after_a_time_and_their_connection_is_closed() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    for answer in (silence, trickle(head, b"x"), trickle(b"HTTP/1.1 200 OK\r\nX: ", b"y")):
        async with Site() as site:
            site.answers["/"] = answer
            assert (await get(site, "/", seconds=2)).text == "not fetched: it took longer than 2 seconds"
            if site.opened.is_set():  # on a busy machine the time may be up before
                await site.gone.wait()


async def test_a_stop_closes_the_connection() -> None:
    async with Site() as site:
        site.answers["/"] = silence
        fetcher = Fetcher(Allowed([site.host]))
        task = asyncio.create_task(fetcher.fetch(f"{site.url}/", "alice"))
        await site.opened.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await site.gone.wait()
        await fetcher.aclose()


async def test_one_person_does_not_take_all_places() -> None:
    async with Site() as site:
        site.answers |= {"/slow": silence, "/": response(PAGE)}
        fetcher = Fetcher(Allowed([site.host]), at_once=4, each=2)
        slow = [asyncio.create_task(fetcher.fetch(f"{site.url}/slow", "alice")) for _ in range(10)]
        await site.opened.wait()
        assert (await fetcher.fetch(f"{site.url}/", "bob")).body == PAGE.encode()
        assert site.paths.count("/slow") <= 2
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        await fetcher.aclose()


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Site() as site, Site() as proxy:
        site.answers["/"] = response(PAGE)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert (await get(site, "/")).status == "ok"
    assert proxy.heads == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "https://me:secret@example.org/",
        "https://example.org:22/",
        "https://example.org:3000/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://app.localhost:8080/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "not an address",
        "",
    ],
)
async def test_an_address_that_can_only_be_refused_is_known_before_anybody_is_asked(url: str) -> None:
    fetcher = Fetcher(resolve=names(["127.0.0.1"]))
    reason = await fetch.tool(fetcher, Reader()).refusal({"url": url})
    assert reason is not None
    assert Result(reason, "error") == await call(url, fetcher)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://example.org/", ()),
        ("http://example.org:8080/a?b#c", ()),
        ("https://93.184.215.14/", ()),
        ("http://wiki.example:3000/", ("wiki.example:3000",)),
        ("http://wiki.example:3000/", ("10.0.0.0/8", "[fd00::1]:3000")),
        ("http://127.0.0.1:9/", ("127.0.0.1:9",)),
        ("http://localhost/", ("localhost",)),
        ("http://10.1.2.3/", ("10.0.0.0/8",)),
    ],
)
async def test_an_address_that_may_be_fetched_is_asked_about(url: str, allowed: Sequence[str]) -> None:
    assert await fetch.tool(Fetcher(Allowed(allowed)), Reader()).refusal({"url": url}) is None


def test_the_whole_address_is_shown_to_the_person_who_approves() -> None:
    tool = fetch.tool(Fetcher(), Reader())
    url = "https://example.org/?q=" + "x" * 5000 + "\u202eend"
    english, chinese = tool.describe({"url": url}, "en"), tool.describe({"url": url}, "zh")
    assert english.label == "Fetch a page"
    assert english.description.startswith("Fetching page (5,027 characters): https://example.org/?q=xxx")
    assert english.description.endswith("xxx\\u202eend")
    assert (chinese.label, chinese.description[:6]) == ("获取网页", "正在获取网页")
    assert (tool.permission, tool.repeatable) == ("confirm", True)
