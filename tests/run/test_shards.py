"""Shards count from 0, cover the grid once, and do not depend on the order in which it is planned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError, Key, UsageError
from wm_audit.run.cells import Cell, groups
from wm_audit.run.shards import WHOLE, Shard


@pytest.mark.parametrize("text", ["2/2", "5/3", "0/0", "-1/2", "1", "1/", "/2", "a/b", "1/2/3", "0.5/2", " 0/2", "", "1e1/20"])
def test_what_is_no_shard_is_wrong_usage_on_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="--shard") as caught:
        Shard.parse(text)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


def test_the_message_names_the_valid_indices() -> None:
    with pytest.raises(UsageError, match="0/2 to 1/2"):
        Shard.parse("2/2")


def test_valid_shards() -> None:
    assert Shard.parse("0/1") == WHOLE
    assert Shard.parse("1/2") == Shard(1, 2)


@given(st.sets(st.sampled_from([f"{size}x{size}-seed{seed}" for size in (4, 16) for seed in range(12)])), st.integers(1, 7))
def test_every_group_is_in_exactly_one_shard_whatever_the_order(names: set[str], count: int) -> None:
    ordered = {name: name for name in sorted(names)}
    backwards = {name: name for name in sorted(names, reverse=True)}
    parts = [set(Shard(index, count).of(ordered)) for index in range(count)]
    assert sum(len(part) for part in parts) == len(names)
    assert set().union(*parts) == names
    assert [set(Shard(index, count).of(backwards)) for index in range(count)] == parts
    assert max(len(part) for part in parts) - min(len(part) for part in parts) <= 1


def test_a_shard_keeps_the_order_of_the_grid() -> None:
    assert list(WHOLE.of({"b": 1, "a": 2})) == ["b", "a"]


def cell(seed: int, **inputs: int) -> Cell:
    return Cell(Key("toy", 4, 4, seed), dict(inputs), f"seed{seed % 2}")


def test_groups_keep_the_order_of_cells() -> None:
    found = groups([cell(1), cell(0), cell(3), cell(2)])
    assert list(found) == ["seed1", "seed0"]
    assert [item.key.seed for item in found["seed1"]] == [1, 3]


def test_a_cell_planned_twice_is_refused() -> None:
    with pytest.raises(AuditError, match="toy-4x4-seed1-trained-none: is planned twice"):
        groups([cell(1), cell(0), cell(1)])


def test_a_resume_key_follows_key_inputs_and_code_and_nothing_else() -> None:
    base = cell(1, steps=3)
    assert base.resume_key("a") == cell(1, steps=3).resume_key("a")
    assert Cell(base.key, base.inputs, "another group").resume_key("a") == base.resume_key("a")
    keys = {base.resume_key("a"), base.resume_key("b"), cell(1, steps=4).resume_key("a"), cell(2, steps=3).resume_key("a")}
    assert len(keys) == 4
    reordered = Cell(base.key, {"b": 1, "a": 2}, "g").resume_key("a")
    assert reordered == Cell(base.key, {"a": 2, "b": 1}, "g").resume_key("a")


def test_floats_have_no_resume_key() -> None:
    with pytest.raises(ValueError, match="no float"):
        Cell(Key("toy", 4, 4, 0), {"rate": 0.1}, "g").resume_key("a")
