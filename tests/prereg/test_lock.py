"""A promise is locked once, found by its digest, and binds what a run may claim."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from wm_audit.core import AuditError
from wm_audit.instruments.audit.decide import standing
from wm_audit.prereg import archive
from wm_audit.prereg.audit_config import load_config
from wm_audit.prereg.forms import exact
from wm_audit.prereg.lock import create, lock_of, lock_path, read_lock
from wm_audit.prereg.promise import Promise, load_promise

Write = Callable[..., Path]
DAY = date(2031, 2, 3)
ENTRY = """deviations:
  - id: D1
    promise: DIGEST
    field: training.batch
    planned: 4
    done: 8
    reason: unforeseen_event
    outcomes_seen: before
    severity: none, decided before any outcome was seen
    original_result: cannot be computed
    date: "2031-02-04"
    commit: "0123abc"
"""


@pytest.fixture
def locked(final_text: str) -> str:
    """The project's promise as it would be when its status is locked."""
    return final_text


@pytest.fixture
def promise(tmp_path: Path, locked: str) -> Promise:
    """It, in a file of its own."""
    path = tmp_path / "preregistration.yaml"
    path.write_text(locked, encoding="utf-8")
    return load_promise(path)


def lock(promise: Promise, *ran: tuple[str, str]) -> Path:
    return create(promise, locked_on=DAY, code_version="sha256:" + "c" * 64, ran=ran)


def test_a_lock_is_read_back_as_it_was_written(promise: Promise) -> None:
    found = read_lock(lock(promise))
    assert (found.version, found.digest, found.locked_on) == (0, promise.digest, "2031-02-03")
    assert [item["kind"] for item in found.time_evidence] == ["self"]
    assert lock_of(promise) == found
    assert found.text() == lock_path(Path(promise.where)).read_text(encoding="utf-8")


def test_comments_and_order_may_change_under_a_lock_and_values_may_not(promise: Promise, locked: str) -> None:
    lock(promise)
    path = Path(promise.where)
    path.write_text("# a comment\r\n" + locked.replace("0.90", "0.9"), encoding="utf-8", newline="")
    assert lock_of(load_promise(path)) is not None
    path.write_text(locked.replace("margin: 0.4 ", "margin: 0.5 "), encoding="utf-8")
    with pytest.raises(AuditError, match="its lock names"):
        lock_of(load_promise(path))


def test_a_lock_is_never_overwritten(promise: Promise) -> None:
    before = lock(promise).read_bytes()
    with pytest.raises(AuditError, match="is there already"):
        lock(promise)
    assert lock_path(Path(promise.where)).read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "said"), [("status: locked", "status: draft", "is a draft"), (r"power:\n(  .*\n)+", "power: null\n", "power")]
)
def test_what_is_not_final_is_not_locked(tmp_path: Path, locked: str, old: str, new: str, said: str) -> None:
    path = tmp_path / "preregistration.yaml"
    path.write_text(re.sub(old, new, locked), encoding="utf-8")
    with pytest.raises(AuditError, match=said):
        lock(load_promise(path))
    assert not lock_path(path).exists()


def test_main_results_under_another_promise_forbid_the_lock(promise: Promise) -> None:
    with pytest.raises(AuditError, match="is a main result under"):
        lock(promise, ("results_x.json", "sha256:" + "1" * 64))
    lock(promise, ("results_x.json", promise.digest))


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("schema", "wm_audit/lock/2"),
        ("version", "0"),
        ("digest", "sha256:12"),
        ("locked_on", "2031-02-30"),
        ("code_version", 1),
        ("code_version", "0.1.0"),
        ("time_evidence", [{"kind": "oath"}]),
        ("time_evidence", [{"kind": "rfc3161", "token": 1, "certificate": ""}]),
    ],
)
def test_a_changed_lock_file_is_refused(promise: Promise, member: str, value: object) -> None:
    path = lock(promise)
    entry = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(entry | {member: value}), encoding="utf-8")
    with pytest.raises(AuditError, match=r"preregistration\.lock\.json"):
        read_lock(path)


def test_a_superseded_promise_is_found_by_its_digest(promise: Promise, tmp_path: Path, locked: str) -> None:
    old = promise.digest
    (tmp_path / "superseded").mkdir()
    Path(promise.where).rename(tmp_path / "superseded" / "preregistration_0.yaml")
    Path(promise.where).write_text(locked.replace("version: 0", "version: 1"), encoding="utf-8")
    assert archive.need(tmp_path, old, {}).where.endswith("superseded/preregistration_0.yaml")
    assert archive.find(tmp_path, "sha256:" + "0" * 64) is None


def test_a_promise_that_is_nowhere_is_named_by_the_nearest_one(promise: Promise, tmp_path: Path, locked: str) -> None:
    """The nearest is the one with the fewest differences, not the first that is near."""
    (tmp_path / "superseded").mkdir()
    one = locked.replace("version: 0", "version: 1")
    (tmp_path / "superseded" / "v1.yaml").write_text(one, encoding="utf-8")
    (tmp_path / "ran.yaml").write_text(one.replace("margin: 0.4 ", "margin: 0.5 "), encoding="utf-8")
    ran = load_promise(tmp_path / "ran.yaml")
    with pytest.raises(AuditError, match="no promise there has the digest") as caught:
        archive.need(tmp_path, ran.digest, exact(ran.data))
    line = str(caught.value)
    assert "superseded/v1.yaml: hypotheses[0].margin is 0.5 in the results, 0.4, as promised here" in line
    assert "--configs" in line
    assert "\n" not in line
    assert archive.nearest(tmp_path / "superseded", exact(ran.data)) is None


def test_only_a_locked_promise_with_its_lock_run_whole_is_confirmatory(with_promise: Write, locked: str, text: str) -> None:
    run = with_promise("", locked)
    assert load_config(run).claim().label == "exploratory"
    lock(load_config(run).promise)
    assert load_config(run).claim() == ("confirmatory", (), "2031-02-03")
    assert load_config(with_promise("seeds: [0, 1]\n", locked)).claim().label == "exploratory"
    lock_path(run.with_name("preregistration.yaml")).unlink()
    assert load_config(with_promise("", text)).claim() == ("exploratory", (), None)


def test_a_lock_that_came_after_the_rows_binds_nothing(with_promise: Write, locked: str) -> None:
    """Run, look, lock what was found, merge again: the rows say that there was no lock when they were made."""
    config = load_config(with_promise("", locked))
    before = config.promise.header(config.claim().locked_on)
    lock(config.promise)
    folder = Path(config.promise.where).parent
    for rows, label in ((before, "exploratory"), (config.promise.header("2031-02-02"), "exploratory")):
        assert standing(rows, config.to_json(), configs=folder).label == label
    after = config.promise.header(config.claim().locked_on)
    assert after["locked_on"] == "2031-02-03"
    found, held = standing(after, config.to_json(), configs=folder), standing(after, config.to_json(), promise=config.promise)
    assert found == held == config.claim()
    assert found.label == "confirmatory"


def test_a_logged_deviation_is_run_and_named_and_another_one_refused(with_promise: Write, locked: str) -> None:
    run = with_promise("training: {batch: 8}\n", locked)
    with pytest.raises(AuditError, match=r"training\.batch: is no slice"):
        load_config(run)
    promise = load_promise(run.with_name("preregistration.yaml"))
    lock(promise)
    log = run.with_name("deviations.yaml")
    log.write_text(ENTRY.replace("DIGEST", promise.digest), encoding="utf-8")
    label, deviations, _ = load_config(run).claim()
    assert (label, [item.id for item in deviations]) == ("confirmatory_with_deviations", ["D1"])
    part = load_config(with_promise("training: {batch: 8}\nseeds: [0]\n", locked)).claim()
    assert (part.label, [item.id for item in part.deviations]) == ("exploratory", ["D1"])
    with pytest.raises(AuditError, match=r"training\.batch: is no slice"):
        load_config(with_promise("training: {batch: 9}\n", locked))
    log.write_text(ENTRY.replace("DIGEST", "sha256:" + "0" * 64), encoding="utf-8")
    with pytest.raises(AuditError, match=r"training\.batch: is no slice"):
        load_config(with_promise("training: {batch: 8}\n", locked))


def test_a_logged_deviation_that_was_not_made_is_refused(with_promise: Write, locked: str) -> None:
    run = with_promise("", locked)
    promise = load_config(run).promise
    lock(promise)
    run.with_name("deviations.yaml").write_text(ENTRY.replace("DIGEST", promise.digest), encoding="utf-8")
    with pytest.raises(AuditError, match=r"D1: says that training\.batch was 8, the run has 4"):
        load_config(run).claim()


@pytest.mark.parametrize("field", ["severity", "commit", "original_result", "outcomes_seen"])
def test_every_field_of_a_deviation_is_required(with_promise: Write, locked: str, field: str) -> None:
    run = with_promise("", locked)
    lines = [line for line in ENTRY.splitlines() if f" {field}:" not in line]
    run.with_name("deviations.yaml").write_text("\n".join(lines).replace("DIGEST", "sha256:" + "0" * 64) + "\n", encoding="utf-8")
    with pytest.raises(AuditError, match=field):
        load_config(run)


def test_an_id_stands_once(with_promise: Write, locked: str) -> None:
    run = with_promise("", locked)
    entry = ENTRY.replace("DIGEST", "sha256:" + "0" * 64)
    run.with_name("deviations.yaml").write_text(entry + entry.removeprefix("deviations:\n").replace("done: 8", "done: 9"), encoding="utf-8")
    with pytest.raises(AuditError, match="a second time"):
        load_config(run)


def entry(promise: Promise, **said: str) -> str:
    """A log of one deviation from this promise, with some fields otherwise than in `ENTRY`."""
    lines = ENTRY.replace("DIGEST", promise.digest).splitlines()
    for name, value in said.items():
        place = next(index for index, line in enumerate(lines) if line.strip(" -").startswith(f"{name}:"))
        lines[place] = lines[place].partition(":")[0] + f": {value}"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({"planned": "5"}, "planned", "is 5 for training.batch; expected what was promised, 4; fix: write 4"),
        ({"field": "training.bacth"}, "planned", "what was promised, nothing; fix: write training.batch"),
        ({"done": "4"}, "done", "is 4, as planned"),
        ({"date": '"2031-02-30"'}, "date", "a day of the calendar"),
    ],
)
def test_an_entry_that_misstates_the_promise_is_refused(
    with_promise: Write, locked: str, said: dict[str, str], field: str, words: str
) -> None:
    """Both ways: a log that says less, more or otherwise than what was done is no log of it."""
    run = with_promise("training: {batch: 8}\n", locked)
    promise = load_promise(run.with_name("preregistration.yaml"))
    lock(promise)
    run.with_name("deviations.yaml").write_text(entry(promise, **said), encoding="utf-8")
    with pytest.raises(AuditError) as caught:
        load_config(run)
    line = str(caught.value)
    own = run.with_name("deviations.yaml").read_text(encoding="utf-8").splitlines()
    number = next(index for index, text in enumerate(own, start=1) if text.strip().startswith(f"{field}:"))
    assert f"deviations.yaml, line {number}, field deviations[0].{field}: " in line
    assert words in line
    assert "\n" not in line


def test_a_draft_is_changed_and_not_deviated_from(with_promise: Write, text: str) -> None:
    run = with_promise("training: {batch: 8}\n", text)
    promise = load_promise(run.with_name("preregistration.yaml"))
    run.with_name("deviations.yaml").write_text(entry(promise), encoding="utf-8")
    with pytest.raises(AuditError, match="a draft; expected a locked promise"):
        load_config(run)


def test_a_list_is_deviated_from_as_a_whole(with_promise: Write, locked: str) -> None:
    """One seed more is no slice; logged, it is a deviation."""
    more = [*range(21)]
    run = with_promise(f"seeds: {more}\n", locked)
    promise = load_promise(run.with_name("preregistration.yaml"))
    lock(promise)
    with pytest.raises(AuditError, match=r"seeds\[20\]: is no slice"):
        load_config(run)
    log = run.with_name("deviations.yaml")
    log.write_text(entry(promise, field="seeds", planned=f'"{[*range(20)]}"', done=f'"{more}"'), encoding="utf-8")
    assert load_config(run).claim().label == "confirmatory_with_deviations"
    log.write_text(entry(promise, field="seeds", planned=f'"{[*range(20)]}"', done=f'"{[*range(22)]}"'), encoding="utf-8")
    with pytest.raises(AuditError, match=r"seeds\[20\]: is no slice"):
        load_config(run)


def test_a_map_is_deviated_from_value_by_value(with_promise: Write, locked: str) -> None:
    """A capacity more is two values; one of them alone does not state it."""
    grid = "capacities: [{hidden: 16, embed: 16}, {hidden: 32, embed: 32}, {hidden: 64, embed: 64}, {hidden: 128, embed: 128}]\n"
    run = with_promise(grid, locked)
    promise = load_promise(run.with_name("preregistration.yaml"))
    lock(promise)
    first = entry(promise, field="capacities[3].hidden", planned="nothing", done="128")
    second = entry(promise, id="D2", field="capacities[3].embed", planned="nothing", done="128").removeprefix("deviations:\n")
    log = run.with_name("deviations.yaml")
    log.write_text(first, encoding="utf-8")
    with pytest.raises(AuditError, match=r"capacities\[3\]: is no slice"):
        load_config(run)
    log.write_text(first + second, encoding="utf-8")
    assert [item.id for item in load_config(run).claim().deviations] == ["D1", "D2"]


def test_what_no_entry_states_is_refused_also_when_shards_are_merged(with_promise: Write, locked: str) -> None:
    """The log may have been changed since the cells were made."""
    run = with_promise("training: {batch: 8}\n", locked)
    promise = load_promise(run.with_name("preregistration.yaml"))
    lock(promise)
    log = run.with_name("deviations.yaml")
    log.write_text(entry(promise), encoding="utf-8")
    config = load_config(run)
    header = promise.header(config.claim().locked_on)
    assert standing(header, config.to_json(), configs=run.parent) == config.claim()
    log.write_text("deviations: []\n", encoding="utf-8")
    with pytest.raises(AuditError, match=r"training\.batch: is 8, which no deviation states; expected 4, as promised"):
        standing(header, config.to_json(), configs=run.parent)


def test_a_logged_budget_is_a_deviation_and_an_unlogged_one_a_slice(with_promise: Write, locked: str) -> None:
    run = with_promise("training: {steps: 100000}\n", locked)
    promise = load_promise(run.with_name("preregistration.yaml"))
    lock(promise)
    assert load_config(run).claim() == ("exploratory", (), "2031-02-03")
    log = entry(promise, field="training.steps", planned="200000", done="100000")
    run.with_name("deviations.yaml").write_text(log, encoding="utf-8")
    assert load_config(run).claim().label == "confirmatory_with_deviations"
