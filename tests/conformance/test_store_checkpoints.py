"""The crash journal, on every backend."""

from caesura.store import checkpoints
from caesura.store.checkpoints import Checkpoint, Write
from caesura.store.database import Database
from tests.conformance.rows import make_turn


def _checkpoint(number: int) -> Checkpoint:
    parent = f"1f-{number - 1:03}" if number > 1 else None
    return Checkpoint(f"1f-{number:03}", parent, "msgpack", b"\0\xff" * number, b"{}")


def _write(task: str, idx: int, body: bytes = b"x", path: str = "") -> Write:
    return Write(task, idx, path, "messages", "msgpack", body)


async def test_the_newest_checkpoint_is_found_and_an_older_one_by_its_id(database: Database) -> None:
    turn = await make_turn(database)
    assert await database.read(checkpoints.get, turn.num, "") is None
    for number in (1, 2, 3):
        await database.write(checkpoints.put, turn.num, "", _checkpoint(number))
    assert await database.read(checkpoints.get, turn.num, "") == (_checkpoint(3), [])
    assert await database.read(checkpoints.get, turn.num, "", "1f-001") == (_checkpoint(1), [])
    assert await database.read(checkpoints.get, turn.num, "", "1f-009") is None
    listed = await database.read(checkpoints.listing, turn.num, "")
    assert listed == [_checkpoint(3), _checkpoint(2), _checkpoint(1)]
    assert await database.read(checkpoints.listing, turn.num, "", None, 2) == listed[:2]


async def test_the_newest_checkpoint_is_the_one_stored_last_whatever_the_clocks_of_the_nodes_say(
    database: Database,
) -> None:
    turn = await make_turn(database)
    for number in (7, 8, 2, 3):  # a second node, whose clock is slow, continued after 8
        await database.write(checkpoints.put, turn.num, "", _checkpoint(number))
    await database.write(checkpoints.put, turn.num, "", _checkpoint(7))
    listed = await database.read(checkpoints.listing, turn.num, "")
    assert listed == [_checkpoint(3), _checkpoint(2), _checkpoint(8), _checkpoint(7)]


async def test_a_checkpoint_put_again_replaces_itself(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(checkpoints.put, turn.num, "", _checkpoint(1))
    changed = _checkpoint(1)._replace(body=b"new", metadata=b"[]")
    await database.write(checkpoints.put, turn.num, "", changed)
    assert await database.read(checkpoints.listing, turn.num, "") == [changed]


async def test_turns_and_namespaces_do_not_see_each_other(database: Database) -> None:
    one, two = await make_turn(database), await make_turn(database)
    for turn, ns, number in ((one, "", 1), (one, "sub:1|a", 2), (two, "", 3)):
        await database.write(checkpoints.put, turn.num, ns, _checkpoint(number))
        await database.write(checkpoints.put_writes, turn.num, ns, f"1f-{number:03}", [_write(ns, number)])
    for turn, ns, number in ((one, "", 1), (one, "sub:1|a", 2), (two, "", 3)):
        assert await database.read(checkpoints.get, turn.num, ns) == (
            _checkpoint(number),
            [_write(ns, number)],
        )


async def test_writes_are_read_in_the_order_in_which_they_apply(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(checkpoints.put, turn.num, "", _checkpoint(1))
    writes = [
        _write("t1", 1, path="~a"),
        _write("t1", 0, path="~a"),
        _write("t2", -1, path="~a"),
        _write("t0", 0, path="~b"),
    ]
    await database.write(checkpoints.put_writes, turn.num, "", "1f-001", writes)
    found = await database.read(checkpoints.get, turn.num, "")
    assert found is not None
    assert found[1] == [writes[1], writes[0], writes[2], writes[3]]


async def test_an_existing_write_stays_but_a_special_one_is_replaced(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(checkpoints.put, turn.num, "", _checkpoint(1))
    for body in (b"first", b"second"):
        writes = [_write("t", -1, body), _write("t", 0, body)]
        await database.write(checkpoints.put_writes, turn.num, "", "1f-001", writes)
    await database.write(checkpoints.put_writes, turn.num, "", "1f-001", [])
    found = await database.read(checkpoints.get, turn.num, "")
    assert found is not None
    assert [(write.idx, write.body) for write in found[1]] == [(-1, b"second"), (0, b"first")]


async def test_the_last_of_several_special_writes_in_one_call_counts(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(checkpoints.put, turn.num, "", _checkpoint(1))
    writes = [_write("t", -1, b"first"), _write("t", -1, b"second")]
    await database.write(checkpoints.put_writes, turn.num, "", "1f-001", writes)
    found = await database.read(checkpoints.get, turn.num, "")
    assert found is not None
    assert found[1] == writes[1:]


async def test_writes_may_come_before_their_checkpoint(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(checkpoints.put_writes, turn.num, "", "1f-001", [_write("t", 0)])
    assert await database.read(checkpoints.get, turn.num, "") is None
    await database.write(checkpoints.put, turn.num, "", _checkpoint(1))
    assert await database.read(checkpoints.get, turn.num, "") == (_checkpoint(1), [_write("t", 0)])


async def test_removing_the_journal_of_a_turn_removes_all_of_it_and_no_other(database: Database) -> None:
    one, two = await make_turn(database), await make_turn(database)
    for turn in (one, two):
        for ns in ("", "sub"):
            await database.write(checkpoints.put, turn.num, ns, _checkpoint(1))
            await database.write(checkpoints.put_writes, turn.num, ns, "1f-001", [_write("t", 0)])
    await database.write(checkpoints.remove, one.num)
    for ns in ("", "sub"):
        assert await database.read(checkpoints.get, one.num, ns) is None
        assert await database.read(checkpoints.get, two.num, ns) == (_checkpoint(1), [_write("t", 0)])
    await database.write(checkpoints.put, one.num, "", _checkpoint(1))
    assert await database.read(checkpoints.get, one.num, "") == (_checkpoint(1), [])
