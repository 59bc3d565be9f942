"""Cases: every interesting shape once, then random requests."""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import cycle
from random import Random
from typing import Any, TypeVar

from tests.effort import examples
from tests.hostile import bodies, headers, paths, queries, tokens
from tests.hostile.bodies import Body, Shapes
from tests.hostile.framings import FRAMINGS, Framing
from tests.hostile.person import People, Person
from tests.hostile.request import Header, Request
from tests.hostile.routes import METHODS, ODD_METHODS, Document, Route

T = TypeVar("T")
Case = Callable[[Random], Request]
#: The ends of the routes that take a message. Documents and answers have a `content` or a `message` too.
_TALKS = ("/turns", "/chat", "/chat/stream", "/chat/{thread_id}")
_SMALL = [body for body in bodies.RAW if len(body.data) < 64 * 1024]
_LARGE = [body for body in bodies.RAW if len(body.data) >= 64 * 1024]


class Cases:
    def __init__(self, document: Document, people: People) -> None:
        self._shapes, self._people = Shapes(document), people
        self._routes = document.routes
        self._with_body = [route for route in self._routes if route.body is not None]
        self._protected = [route for route in self._routes if route.protected]
        self._weights = [_weight(route) for route in self._routes]
        self._talking = [route for route in self._with_body if route.template.endswith(_TALKS)]
        self._deciding = [
            route for route in self._with_body if _members(route) & {"decision", "action", "answers"}
        ]
        self._kinds: dict[Case, int] = {
            self._usual: 22,
            self._talk: 30,
            self._decide: 8,
            self._mutated: 14,
            self._raw: 7,
            self._large: 1,
            self._query: 8,
            self._given: 2,
            self._trick: 6,
            self._odd_target: 2,
            self._header: 10,
            self._framing: 4,
            self._token: 6,
            self._cut: 4,
            self._slow: 1,
            self._pipelined: 4,
            self._method: 3,
        }

    def each(self) -> Iterator[Case]:
        """Every shape that is worth trying by itself, on every route, or on some of them (`_some`)."""
        for place, template in enumerate(dict.fromkeys(route.template for route in self._routes)):
            for method in _some((*METHODS, *ODD_METHODS), place):
                yield partial(self._plain, Route(method, template), what=f"the method {method}")
        for place, route in enumerate(self._with_body):
            for body in _some(bodies.RAW, place):
                yield partial(self._bodied, route, body)
            for name, base, value in _rotated(self._shapes, route, place):
                yield partial(self._wrong, route, name, base, value)
        for place, route in enumerate(self._routes):
            for query in _some(list(queries.each(route.queries)), place):
                yield partial(self._queried, route, query)
        yield from self._each_oddity()

    def each_large(self) -> Iterator[Case]:
        """The largest bodies on the routes that take one."""
        for place, route in enumerate(self._with_body):
            for body in _some(_LARGE, place):
                yield partial(self._bodied, route, body)

    def _each_oddity(self) -> Iterator[Case]:
        """Oddities that are tried on one route after another."""
        routes = cycle(self._routes)
        for what, trick in paths.TRICKS:
            yield partial(self._tricked, next(routes), what, trick)
        for target in paths.ODD:
            yield partial(self._aimed, "GET", target)
            yield partial(self._aimed, "POST", target)
        for extra in headers.SETS:
            yield partial(self._headed, next(routes), extra)
        for what, framing in FRAMINGS:
            yield partial(self._framed, next(routes), what, framing)
            yield partial(self._framed, next(routes), what, framing)
        protected = cycle(self._protected)
        for number in range(len(tokens.bad(self._people.any(Random(0)).token))):
            yield partial(self._badly_signed, next(protected), number)

    def any(self, chance: Random) -> Request:
        (kind,) = chance.choices(list(self._kinds), list(self._kinds.values()))
        return kind(chance)

    # --- the kinds that are drawn

    def _usual(self, chance: Random) -> Request:
        return self._plain(self._route(chance), chance)

    def _talk(self, chance: Random) -> Request:
        return self._plain(chance.choice(self._talking), chance, what="a message")

    def _decide(self, chance: Random) -> Request:
        return self._plain(chance.choice(self._deciding), chance, what="a decision")

    def _mutated(self, chance: Random) -> Request:
        route = self._route_with_body(chance)
        person = self._people.any(chance)
        value = _mutated(chance, self._right(chance, route, person))
        return self._bodied(route, Body("a body with a wrong part", bodies.encoded(value)), chance, person)

    def _raw(self, chance: Random) -> Request:
        return self._bodied(self._route(chance), chance.choice(_SMALL), chance)

    def _large(self, chance: Random) -> Request:
        return self._bodied(self._route_with_body(chance), chance.choice(_LARGE), chance)

    def _query(self, chance: Random) -> Request:
        asked = [route for route in self._routes if route.queries]
        route = chance.choice(asked if chance.random() < 0.8 else self._routes)
        return self._queried(route, queries.some(chance, route.queries), chance)

    def _given(self, chance: Random) -> Request:
        """A ticket or a cursor that the server gave, to this person or to another."""
        name, parameter = chance.choice((("ticket", "ticket"), ("next", "cursor")))
        route = chance.choice([route for route in self._routes if parameter in route.queries])
        person = self._people.any(chance)
        given = chance.choice(self._people.any(chance).ids.get(name, ["x"]))
        made = self._to(route, chance, person, f"a {parameter}", f"limit=1&{parameter}={given}")
        return replace(made, headers=(), refused=False) if name == "ticket" else made

    def _trick(self, chance: Random) -> Request:
        what, trick = chance.choice(paths.TRICKS)
        return self._tricked(self._route(chance), what, trick, chance)

    def _odd_target(self, chance: Random) -> Request:
        return self._aimed(chance.choice(METHODS), chance.choice(paths.ODD), chance)

    def _header(self, chance: Random) -> Request:
        route = self._route(chance)
        if route.headers and chance.random() < 0.7:
            wanted = [extra for extra in headers.SETS if extra[0][0].decode() in route.headers]
            return self._headed(route, chance.choice(wanted), chance)
        return self._headed(route, chance.choice(headers.SETS), chance)

    def _framing(self, chance: Random) -> Request:
        what, framing = chance.choice(FRAMINGS)
        return self._framed(self._route(chance), what, framing, chance)

    def _token(self, chance: Random) -> Request:
        return self._badly_signed(chance.choice(self._protected), chance.randrange(1000), chance)

    def _cut(self, chance: Random) -> Request:
        whole = self._usual(chance) if chance.random() < 0.6 else self._talk(chance)
        return replace(whole, manner="cut", part=chance.random(), what=f"{whole.what}, cut off")

    def _slow(self, chance: Random) -> Request:
        whole = self._usual(chance) if chance.random() < 0.5 else self._mutated(chance)
        return replace(whole, manner="slow", what=f"{whole.what}, slowly")

    def _pipelined(self, chance: Random) -> Request:
        first, *rest = (self._usual(chance) for _ in range(chance.choice((2, 3, 8))))
        return replace(first, then=tuple(rest), what=f"{first.what}, and {len(rest)} more behind it")

    def _method(self, chance: Random) -> Request:
        route = self._route(chance)
        method = chance.choice((*METHODS, *ODD_METHODS))
        return self._plain(replace(route, method=method), chance, what=f"the method {method}")

    # --- how a request is put together

    def _plain(self, route: Route, chance: Random, what: str = "a usual request") -> Request:
        """A request as the OpenAPI document describes it, with ids of all kinds."""
        person = self._people.any(chance)
        made = self._to(route, chance, person, what)
        if route.body is None:
            return made
        body = bodies.encoded(self._right(chance, route, person))
        return replace(made, body=body).with_headers((b"Content-Type", bodies.JSON))

    def _to(self, route: Route, chance: Random, person: Person, what: str, query: str = "") -> Request:
        values, others = {}, False
        for name in route.parameters:
            values[name], other = self._people.id(chance, person, name)
            others = others or other
        target = route.path(values) + (f"?{query}" if query else "")
        return Request(
            f"{what} to {route.method} {route.template} by {person.name}",
            route.method,
            target.encode(),
            tokens.good(person.token),
            refused=others and route.protected,
            person=person.name,
            part=chance.random(),
        )

    def _right(self, chance: Random, route: Route, person: Person) -> Any:
        assert route.body is not None

        def ids(name: str) -> str:
            return self._people.id(chance, person, name)[0]

        return self._shapes.right(chance, route.body, ids)

    def _bodied(self, route: Route, body: Body, chance: Random, person: Person | None = None) -> Request:
        made = self._to(route, chance, person or self._people.any(chance), body.what)
        extra = (*body.headers, (b"Content-Type", body.kind))
        return replace(made, body=body.data).with_headers(*extra)

    def _wrong(self, route: Route, name: str, base: dict[str, Any], value: Any, chance: Random) -> Request:
        person = self._people.any(chance)
        data = bodies.encoded(self._right(chance, route, person) | base | {name: value})
        return self._bodied(route, Body(f"{str(value)[:30]!r} as {name}", data), chance, person)

    def _queried(self, route: Route, query: str, chance: Random) -> Request:
        return self._to(route, chance, self._people.any(chance), f"the query {query[:50]}", query)

    def _tricked(self, route: Route, what: str, trick: Callable[[str], str], chance: Random) -> Request:
        made = self._plain(route, chance, what)
        target = trick(made.target.decode("latin-1")).encode("latin-1")
        return replace(made, target=target, refused=False)

    def _aimed(self, method: str, target: bytes, chance: Random) -> Request:
        person = self._people.any(chance)
        raw = b"%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n"
        message = raw % (method.encode(), target, person.token.encode())
        return Request(f"{method} {target[:50]!r}", method, target, raw=message, manner="short")

    def _headed(self, route: Route, extra: tuple[Header, ...], chance: Random) -> Request:
        name, value = extra[0]
        what = f"{len(extra)} headers such as {name[:30]!r}: {value[:30]!r}"
        made = self._plain(route, chance, what)
        replaced = {name.lower() for name, _ in extra}
        kept = tuple(header for header in made.headers if header[0].lower() not in replaced)
        # After a protocol upgrade, or with two Host headers, the server need not respond.
        manner = "short" if replaced & {b"upgrade", b"host", b"connection"} else made.manner
        return replace(made, headers=(*kept, *extra), manner=manner)

    def _framed(self, route: Route, what: str, framing: Framing, chance: Random) -> Request:
        made = self._to(route, chance, self._people.any(chance), what)
        lines = b"".join(b"%s: %s\r\n" % header for header in made.headers)
        raw = framing(route.method.encode(), made.target, lines, b"{}")
        return replace(made, raw=raw, manner="short", refused=False)

    def _badly_signed(self, route: Route, number: int, chance: Random) -> Request:
        person = self._people.any(chance)
        bad = tokens.bad(person.token)
        what, shown = bad[number % len(bad)]
        return replace(
            self._plain(route, chance, what), headers=(*shown, (b"Content-Type", bodies.JSON)), refused=True
        )

    def _route(self, chance: Random) -> Route:
        (route,) = chance.choices(self._routes, self._weights)
        return route

    def _route_with_body(self, chance: Random) -> Route:
        (route,) = chance.choices(self._with_body, [_weight(route) for route in self._with_body])
        return route


def _weight(route: Route) -> int:
    """Routes that check passwords are slow on purpose, and deleted resources cannot be requested again: both
    are drawn less often."""
    if route.template.startswith("/api/auth/"):
        return 1
    return 3 if route.method == "DELETE" else 10


def _members(route: Route) -> set[str]:
    return set(route.body.get("properties", ())) if route.body else set()


def _some(shapes: Sequence[T], place: int) -> Sequence[T]:
    """All shapes if the tests are thorough. Otherwise every fourth one, and on the next place the ones beside
    them: each place gets some of the shapes, and each shape is tried at some places."""
    step = examples(4, 1)
    return shapes[place % step :: step]


def _rotated(shapes: Shapes, route: Route, place: int) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Each member with wrong values, combined with the choices of the other members in rotation."""
    assert route.body is not None
    choices = cycle(shapes.choices(route.body))
    for number, name in enumerate(route.body.get("properties", ())):
        for value in _some((*bodies.WRONG, *bodies.WRONG_AND_LARGE), place + number):
            yield name, next(choices), value


def _mutated(chance: Random, value: Any) -> Any:
    """The same value with one part, anywhere in it, replaced, removed or added."""
    made = deepcopy(value)
    place = made
    while isinstance(place, dict | list) and place:
        key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.7:
            place = inner
            continue
        _change(chance, place, key)
        return made
    return chance.choice(bodies.WRONG)


def _change(chance: Random, place: Any, key: Any) -> None:
    drawn = chance.random()
    if drawn < 0.7:
        place[key] = chance.choice(bodies.WRONG)
    elif drawn < 0.85:
        del place[key]
    elif isinstance(place, dict):
        place[chance.choice(("extra", "", "\x00", "\ud800", "id", "x" * 3000))] = chance.choice(bodies.WRONG)
    else:
        place += chance.choice(bodies.WRONG[-3:])
