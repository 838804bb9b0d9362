"""The same grid gives the same bytes however it is divided, interrupted or resumed; what fails is named and the rest saved."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wm_audit.core import AuditError, UsageError
from wm_audit.core.record import file_name, read_record
from wm_audit.run import timings
from wm_audit.run.grid import Outcome
from wm_audit.run.shards import Shard
from wm_audit.run.store import Store

Grid = Callable[..., tuple[Outcome, str]]
Contents = Callable[[Path], dict[str, bytes]]


def test_k33_k34_jobs_and_shards_give_the_same_bytes(
    tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents, finished: Path
) -> None:
    """One worker, two workers, and two shards in either order."""
    expected = contents(finished)
    assert set(expected) == {file_name(cell.key) for cell in toy.cells()}
    grid(tmp_path / "two", jobs=2)
    assert contents(tmp_path / "two") == expected
    for name, order in (("there", (0, 1)), ("back", (1, 0))):
        first, _ = grid(tmp_path / name, shard=Shard(order[0], 2))
        assert set(first.made) | set(first.elsewhere) == {cell.key for cell in toy.cells()}
        assert len(first.elsewhere) == 4
        second, _ = grid(tmp_path / name, shard=Shard(order[1], 2), resume=True)
        assert set(second.made) == set(first.elsewhere)
        assert (second.elsewhere, first.exit_code, second.exit_code) == ((), 0, 0)
        assert contents(tmp_path / name) == expected


def test_k33_workers_are_spawned_prepared_and_have_one_thread(
    tmp_path: Path, toy: ModuleType, grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pytorch#17199: a forked child inherits the locks of threads that it has not. What this process holds, a worker must not find."""
    monkeypatch.setitem(sys.modules, "inherited", sys)
    before = os.environ.get("OMP_NUM_THREADS")
    outcome, _ = grid(tmp_path, toy.asks, prepare=toy.prepare, jobs=2)
    assert not outcome.failed
    record = read_record(tmp_path / file_name(outcome.made[0]))
    assert record.row["manifest"]["threads"] == "1"
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_rows_carry_their_lineage_and_times_stay_outside(tmp_path: Path, toy: ModuleType, grid: Grid) -> None:
    outcome, _ = grid(tmp_path, stamp=replace(toy.STAMP, source={"commit": "abc", "dirty": False}))
    manifest = read_record(tmp_path / file_name(outcome.made[0])).row["manifest"]
    stamp = toy.STAMP
    assert manifest["preregistration"] == stamp.preregistration["digest"]
    assert (manifest["code"], manifest["environment"]) == (stamp.code, stamp.environment["digest"])
    assert (manifest["commit"], manifest["dirty"]) == ("abc", False)
    entries, torn = timings.read(tmp_path)
    assert torn == 0
    assert [entry["event"] for entry in entries] == ["done"] * len(toy.cells())
    assert entries[0]["seconds"] == {"train": 0.001}
    assert entries[0]["took"] >= 0


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, {here!r})
import grid_toy
from wm_audit.run.grid import run_grid
from wm_audit.run.store import Store

if __name__ == "__main__":
    with Store(Path({folder!r}), grid_toy.STAMP) as store:
        try:
            run_grid(grid_toy.cells(), store, {work}, jobs=2)
        except KeyboardInterrupt:
            sys.exit(130)
"""


def _start(tmp_path: Path, work: str) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    script = tmp_path / "toy_run.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent), folder=str(tmp_path / "cells"), work=work))
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.Popen([sys.executable, str(script)], env=environment, stderr=subprocess.PIPE, start_new_session=True)


def _wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def _gone(pid: int) -> bool:
    """Whether the process is dead; one that nobody has reaped yet counts as dead."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def test_a_run_killed_in_the_middle_is_resumed_to_the_same_bytes(tmp_path: Path, grid: Grid, contents: Contents, finished: Path) -> None:
    process = _start(tmp_path, "partial(grid_toy.slow, 0.3)")
    folder = tmp_path / "cells"
    _wait_for(lambda: len(list(folder.glob("*.json"))) >= 2)
    process.kill()
    process.communicate()
    made = len(contents(folder))
    assert made < 8
    (folder / ".torn.json.abc.tmp").write_bytes(b"{")  # what a kill inside a write leaves
    outcome, _ = grid(folder, resume=True)
    assert (len(outcome.kept), len(outcome.made)) == (made, 8 - made)
    assert contents(folder) == contents(finished)
    assert not list(folder.glob(".*.tmp"))


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    process = _start(tmp_path, f"partial(grid_toy.mark_and_sleep, Path({str(tmp_path)!r}))")
    _wait_for(lambda: len(list(tmp_path.glob("pid*"))) == 2)
    pids = [int(path.name[3:]) for path in tmp_path.glob("pid*")]
    process.kill()
    process.communicate()
    _wait_for(lambda: all(_gone(pid) for pid in pids), 20)


def test_ctrl_c_ends_the_workers_and_leaves_a_resumable_folder(tmp_path: Path, grid: Grid) -> None:
    process = _start(tmp_path, f"partial(grid_toy.mark_and_sleep, Path({str(tmp_path)!r}))")
    folder = tmp_path / "cells"
    _wait_for(lambda: len(list(folder.glob("*.json"))) == 2 and len(list(tmp_path.glob("pid*"))) == 2)
    pids = [int(path.name[3:]) for path in tmp_path.glob("pid*")]
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process of the group
    _, shown = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in shown
    assert all(_gone(pid) for pid in pids)
    outcome, _ = grid(folder, resume=True)
    assert len(outcome.kept) == 2
    assert len(outcome.made) == 6


def test_a_failing_cell_is_named_and_the_rest_is_saved(tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents) -> None:
    outcome, shown = grid(tmp_path, partial(toy.raises, 1))
    assert outcome.exit_code == 2
    assert [failure.key.text() for failure in outcome.failed] == ["toy-4x4-seed1-trained-copy", "toy-8x8-seed1-trained-copy"]
    assert outcome.failed[0].line == "ZeroDivisionError: the toy broke"
    assert "FAILED toy-4x4-seed1-trained-copy: ZeroDivisionError: the toy broke" in shown
    assert len(contents(tmp_path)) == 6
    entries, _ = timings.read(tmp_path)
    assert "raise ZeroDivisionError" in next(entry["trace"] for entry in entries if entry["event"] == "failed")
    again, _ = grid(tmp_path, resume=True)
    assert (len(again.kept), len(again.made), again.exit_code) == (6, 2, 0)


def test_work_may_report_a_cell_and_go_on(tmp_path: Path, toy: ModuleType, grid: Grid) -> None:
    outcome, _ = grid(tmp_path, toy.reports)
    assert len(outcome.made) == 4
    assert {failure.line for failure in outcome.failed} == {"int8: no engine; expected x86; fix: leave it out"}
    assert {failure.key.compression for failure in outcome.failed} == {"copy"}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("forgets", "the work ended without making this cell"),
        ("twice", "was not asked for, or is here twice"),
        ("unwritable", "ValueError"),
    ],
)
def test_work_that_breaks_its_contract_fails_its_own_cells(tmp_path: Path, toy: ModuleType, grid: Grid, name: str, line: str) -> None:
    outcome, _ = grid(tmp_path, getattr(toy, name), cells=toy.cells(seeds=1))
    assert outcome.exit_code == 2
    assert all(line in failure.line for failure in outcome.failed)
    assert len(outcome.failed) + len(outcome.made) == 4


def test_a_killed_worker_is_retried_once_with_what_it_had_not_made(
    tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents, finished: Path
) -> None:
    outcome, shown = grid(tmp_path / "cells", partial(toy.killed, tmp_path, 1), jobs=2)
    assert not outcome.failed
    assert shown.count("SIGKILL") == 1
    assert "trying once more" in shown
    assert contents(tmp_path / "cells") == contents(finished)


def test_a_worker_that_dies_twice_fails_only_its_open_cells(tmp_path: Path, toy: ModuleType, grid: Grid) -> None:
    few = [cell for cell in toy.cells() if cell.key.hidden == 4]
    outcome, _ = grid(tmp_path / "cells", partial(toy.killed, tmp_path, 2), cells=few)
    assert [failure.key.text() for failure in outcome.failed] == ["toy-4x4-seed1-trained-copy"]
    assert "SIGKILL" in outcome.failed[0].line
    assert len(outcome.made) == 3
    outcome, _ = grid(tmp_path / "other", toy.exits, cells=few)
    assert {failure.line for failure in outcome.failed} == {"its process ended by itself (exit code 7), 2 times"}
    assert {failure.key.seed for failure in outcome.failed} == {1}


@pytest.mark.parametrize("how", ["forked", "started"])
def test_a_worker_that_is_outlived_by_its_child_is_retried_and_not_waited_for(
    how: str, tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents, finished: Path
) -> None:
    """The child holds the dead worker's end of the pipe open, so the pipe never says that the worker is gone."""
    begun = time.monotonic()
    try:
        outcome, shown = grid(tmp_path / "cells", partial(toy.outlived, tmp_path, how), jobs=2)
    finally:
        for mark in tmp_path.glob("child*"):
            os.kill(int(mark.name[5:]), signal.SIGKILL)
    assert not outcome.failed
    assert shown.count("SIGKILL") == 1
    assert contents(tmp_path / "cells") == contents(finished)
    assert time.monotonic() - begun < 60


def test_groups_that_ask_for_it_never_share_a_process(tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents) -> None:
    outcome, _ = grid(tmp_path / "fresh", toy.remembers, jobs=2, fresh=True)
    assert len(outcome.made) == 8
    shared, _ = grid(tmp_path / "shared", toy.remembers, jobs=1)
    assert len(shared.failed) == 6


def test_k41_a_changed_input_or_source_is_never_answered_from_the_cache(
    toy: ModuleType, grid: Grid, contents: Contents, copied: Path
) -> None:
    """lm-evaluation-harness#4063: model B was reported with the answers of model A."""
    before = contents(copied)
    other = replace(toy.STAMP, code="sha256:" + "3" * 64)
    with Store(copied, other) as store:
        assert len(store.survey(toy.cells(), resume=True).stale) == 8
    outcome, _ = grid(copied, resume=True)
    assert len(outcome.made) == 8
    assert contents(copied) == before
    outcome, shown = grid(copied, cells=toy.cells(steps=4), resume=True)
    assert len(outcome.made) == 8
    assert "was made from other settings or sources" in shown
    assert all(before[name] != text for name, text in contents(copied).items())


def test_a_stale_record_whose_cell_then_fails_is_not_left_for_a_merge(
    toy: ModuleType, grid: Grid, contents: Contents, copied: Path
) -> None:
    outcome, _ = grid(copied, partial(toy.raises, 1), cells=toy.cells(steps=4), resume=True)
    assert len(outcome.failed) == 2
    assert not set(contents(copied)) & {file_name(failure.key) for failure in outcome.failed}
    assert (copied / "set_aside" / file_name(outcome.failed[0].key)).is_file()


def test_adding_seeds_keeps_the_old_cells_and_gives_the_bytes_of_one_run(
    tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents
) -> None:
    small = replace(toy.STAMP, config={**toy.STAMP.config, "seeds": [0]})
    large = replace(
        toy.STAMP,
        config={**toy.STAMP.config, "seeds": [0, 1]},
        preregistration=toy.STAMP.preregistration | {"digest": "sha256:" + "4" * 64},
    )
    grid(tmp_path / "grown", cells=toy.cells(seeds=1), stamp=small)
    outcome, _ = grid(tmp_path / "grown", stamp=large, resume=True)
    assert (len(outcome.kept), len(outcome.made)) == (4, 4)
    grid(tmp_path / "once", stamp=large)
    assert contents(tmp_path / "grown") == contents(tmp_path / "once")


def test_k41_a_record_cut_at_any_byte_is_run_again(toy: ModuleType, contents: Contents, grid: Grid, copied: Path) -> None:
    """verifiers#803: the reader refuses cuts (at every byte in the tests of records); the run makes the cell again."""
    before = contents(copied)
    cell = toy.cells()[0]
    path = copied / file_name(cell.key)
    for length in range(0, len(before[path.name]), 25):
        path.write_bytes(before[path.name][:length])
        with pytest.raises(AuditError):
            read_record(path)
    for length in (0, 1, len(before[path.name]) // 2, len(before[path.name]) - 1):
        path.write_bytes(before[path.name][:length])
        with Store(copied, toy.STAMP) as store:
            survey = store.survey(toy.cells(), resume=True)
        assert (survey.torn, survey.todo) == ((path.name,), (cell,))
    path.write_bytes(before[path.name][:-1])
    outcome, shown = grid(copied, resume=True)
    assert outcome.made == (cell.key,)
    assert f"{path.name} is not whole" in shown
    assert contents(copied) == before


def test_k40_refusals_name_the_place_and_change_nothing(toy: ModuleType, grid: Grid, contents: Contents, copied: Path) -> None:
    """A folder of another run, environment, promise or grid."""
    before = contents(copied)
    locked = {**toy.STAMP.preregistration, "status": "locked", "digest": "sha256:" + "5" * 64}
    other_torch = {"digest": "sha256:" + "6" * 64, "torch": "2.14"}
    cases: list[tuple[str, dict[str, Any]]] = [
        ("holds 8 records of an earlier run", {"resume": False}),
        ("torch 'none', here '2.14'", {"stamp": replace(toy.STAMP, environment=other_torch), "cells": toy.cells(steps=9)}),
        ("was run under another promise", {"stamp": replace(toy.STAMP, preregistration=locked)}),
        ("is a cell that this configuration does not name", {"cells": toy.cells(seeds=1)}),
        ("is planned twice", {"cells": toy.cells() * 2}),
    ]
    for line, options in cases:
        with pytest.raises(AuditError, match=line):
            grid(copied, **({"resume": True} | options))
        assert contents(copied) == before
        assert not (copied / "set_aside").exists()


def test_rows_made_before_a_lock_are_never_resumed_as_if_made_under_it(
    tmp_path: Path, toy: ModuleType, grid: Grid, contents: Contents
) -> None:
    def stamp(day: str | None) -> Any:
        return replace(toy.STAMP, preregistration={**toy.STAMP.preregistration, "status": "locked", "locked_on": day})

    grid(tmp_path, stamp=stamp(None))
    before = contents(tmp_path)
    with pytest.raises(AuditError, match="made when its promise was not locked; it now is locked on 2031-02-03"):
        grid(tmp_path, stamp=stamp("2031-02-03"), resume=True)
    assert contents(tmp_path) == before
    grid(tmp_path, stamp=stamp(None), resume=True)
    assert contents(tmp_path) == before


def test_two_runs_over_one_folder_are_refused(tmp_path: Path, toy: ModuleType, grid: Grid) -> None:
    with Store(tmp_path, toy.STAMP), pytest.raises(AuditError, match=f"another run writes here .process {os.getpid()} on ") as caught:
        grid(tmp_path)
    assert "\n" not in str(caught.value)
    with Store(tmp_path, toy.STAMP):  # the lock is free again
        pass


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path, toy: ModuleType) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AuditError, match="cannot be used"), Store(tmp_path / "file" / "cells", toy.STAMP):
        pass


@pytest.mark.parametrize("name", ["set_aside", "timings.jsonl"])
def test_a_place_of_the_folder_that_is_taken_is_one_clear_line(name: str, toy: ModuleType, grid: Grid, copied: Path) -> None:
    """A file where old records go, a folder where times go."""
    (copied / "timings.jsonl").unlink()
    (copied / name).touch() if name == "set_aside" else (copied / name).mkdir()
    with pytest.raises(AuditError, match=rf"{name}: cannot .*fix: move away what is there") as caught:
        grid(copied, cells=toy.cells(steps=4), resume=True)
    assert "\n" not in str(caught.value)


def test_jobs_below_one_is_wrong_usage(tmp_path: Path, grid: Grid) -> None:
    with pytest.raises(UsageError, match="--jobs"):
        grid(tmp_path, jobs=0)


def test_an_empty_grid_is_done(tmp_path: Path, grid: Grid) -> None:
    outcome, _ = grid(tmp_path, cells=[])
    assert outcome.exit_code == 0


def test_records_are_what_the_reader_of_records_reads(toy: ModuleType, finished: Path) -> None:
    for cell in toy.cells():
        record = read_record(finished / file_name(cell.key))
        assert record.key == cell.key
        assert record.config == toy.STAMP.config
        assert json.loads((finished / file_name(cell.key)).read_text())["schema"] == "wm_audit/cell/1"
