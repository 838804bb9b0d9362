"""Things that happened where worlds are drawn, seeded and results put together, and what happens here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wm_audit.board import merge
from wm_audit.core import AuditError, Key, Measurement, Row, stream
from wm_audit.core.record import Record, seal
from wm_audit.data import assemble, collect, uniform
from wm_audit.envs import ENVS, make
from wm_audit.run.provenance import environment

FACTS = {"torch": "2.13.0", "capability": "AVX2", "execution": "eager", "int8_engine": "none", "renderer": "pixel_nav/1"}


def record(key: Key, *, config: dict[str, Any] | None = None, facts: dict[str, str] | None = None, outcome: float = 1.0) -> Record:
    promise = {"version": 0, "digest": "sha256:" + "a" * 64, "status": "draft", "locked_on": None}
    row = Row(key, Measurement(outcome, n=1), {"pixel_mse": Measurement(0.5)})
    return Record("sha256:" + "d" * 64, promise, {"steps": 3} | (config or {}), environment(FACTS | (facts or {})), seal(row.to_json()))


CELLS = [Key("pixel_nav", 16, 16, seed) for seed in range(3)]


def joined(*records: Record) -> merge.Merged:
    return merge.merge([(f"shard/{place}.json", item) for place, item in enumerate(records)], CELLS)


def test_k31_frames_are_in_the_digest_of_the_data_and_a_mix_of_renderers_is_refused() -> None:
    """dm_control#100, Gymnasium#690: the same state gave other pixels under another renderer."""
    world = make("pixel_nav", {"image": 16, "limit": 4})
    episodes = collect(world, {"uniform": uniform}, {"uniform": 1.0}, 16, root=1, seed=1)
    parts = {"train": 0.5, "probe": 0.25, "held_out": 0.25}
    digest = assemble(episodes, world.spec, parts, 1, 1).digest
    for pixel in (0, episodes.obs.size // 2, episodes.obs.size - 1):
        obs = episodes.obs.copy()
        obs.reshape(-1)[pixel] ^= 1
        assert assemble(replace(episodes, obs=obs), world.spec, parts, 1, 1).digest != digest
    assert assemble(episodes, replace(world.spec, renderer="egl"), parts, 1, 1).digest != digest
    with pytest.raises(AuditError, match=r"'pixel_nav/1' at /environment/renderer, this record 'egl'"):
        joined(record(CELLS[0]), record(CELLS[1], facts={"renderer": "egl"}))


@pytest.mark.parametrize("name", ENVS)
def test_k32_a_seed_decides_the_start_and_another_one_decides_otherwise(name: str) -> None:
    """dm_control#86: the seed did nothing, and every reset was the same."""
    one, two = make(name, {"image": 16}), make(name, {"image": 16})
    assert np.array_equal(one.reset(stream(1, "start"), 3), two.reset(stream(1, "start"), 3))
    first = one.snapshot()
    assert np.array_equal(first, two.snapshot())
    assert len(np.unique(first, axis=0)) == 3  # copies of one reset differ too
    one.reset(stream(2, "start"), 3)
    assert not np.array_equal(one.snapshot(), first)
    ongoing = stream(1, "start", "again")
    one.reset(ongoing.child(0), 3)
    second = one.snapshot()
    one.reset(ongoing.child(1), 3)
    assert not np.array_equal(one.snapshot(), second)


def test_k40_shards_of_other_settings_are_refused_and_a_missing_cell_is_named() -> None:
    """vla-evaluation-harness#137, infomap#906: a mix was merged, and a missing shard looked like a complete run."""
    whole = [record(key) for key in CELLS]
    assert joined(*whole).status == "complete"
    with pytest.raises(AuditError, match=r"different configurations: .* has 3 at /config/steps, this record 4"):
        joined(*whole[:2], record(CELLS[2], config={"steps": 4}))
    with pytest.raises(AuditError, match=r"shard/3\.json: differs from shard/0\.json at /outcome/value: 1\.0 and 2\.0"):
        joined(*whole, record(CELLS[0], outcome=2.0))
    with pytest.raises(AuditError, match=r"different environments: .*'2\.13\.0' at /environment/torch, this record '2\.14\.0'"):
        joined(*whole[:2], record(CELLS[2], facts={"torch": "2.14.0"}))
    with pytest.raises(AuditError, match="does not name"):
        joined(*whole, record(Key("pixel_nav", 16, 16, 9)))
    partial = joined(*whole[:1], *whole[2:])
    assert (partial.status, partial.missing) == ("partial", (CELLS[1],))
