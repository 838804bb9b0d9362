"""Claim, deviations and day of the lock are the same bytes wherever shards are merged: they are read from files."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from wm_audit.board import results
from wm_audit.board.leaderboard import leaderboard
from wm_audit.board.verification import promised
from wm_audit.board.verification.check import State
from wm_audit.board.verification.promised import Promised
from wm_audit.board.verification.subject import Subject
from wm_audit.cli import merge
from wm_audit.core import strict_json
from wm_audit.core.record import Record, seal, write_record
from wm_audit.instruments.audit.decide import conclude
from wm_audit.prereg.audit_config import AuditConfig, load_config
from wm_audit.prereg.claims import Made, claim_of, log_digest
from wm_audit.prereg.deviations import load_deviations
from wm_audit.prereg.forms import exact
from wm_audit.prereg.lock import create, lock_of
from wm_audit.prereg.promise import Promise, load_promise

ROOT = Path(__file__).resolve().parents[3]
LOG = """deviations:
  - id: D1
    promise: DIGEST
    field: training.batch
    planned: 4
    done: 8
    reason: unforeseen_event
    outcomes_seen: before
    severity: none
    original_result: cannot be computed
    date: "2031-02-04"
    commit: "0123abc"
"""


PILOT = results.read(ROOT / "leaderboard" / "results_pixel_nav_pilot.json")
CODE = PILOT["rows"][0]["manifest"]["code"]


@pytest.fixture
def config(tmp_path: Path, final_text: str) -> AuditConfig:
    """A run with one logged deviation from a locked promise of the pilot's grid, both in a folder of their own."""
    folder = tmp_path / "configs"
    folder.mkdir()
    path = folder / "preregistration.yaml"
    text = re.sub(r"\nseeds: \[[^]]*\]", "\nseeds: [0, 1, 2]", final_text)
    text = re.sub(r"\n  two_room:\n(    .*\n)+", "\n", text)
    path.write_text(text, encoding="utf-8")
    promise = load_promise(path)
    create(promise, locked_on=date(2031, 2, 3), code_version=CODE, ran=())
    (folder / "deviations.yaml").write_text(LOG.replace("DIGEST", promise.digest), encoding="utf-8")
    (folder / "run.yaml").write_text("name: run\nmode: main\ntraining: {batch: 8}\n", encoding="utf-8")
    return load_config(folder / "run.yaml")


@pytest.fixture
def shards(config: AuditConfig, tmp_path: Path) -> list[Path]:
    """Two folders of records, the published pilot's rows as if they had been made by this run."""
    document = PILOT
    claim = config.claim()
    header = config.promise.header(claim.locked_on, log_digest(claim.deviations))
    executed = strict_json.loads(strict_json.canonical(config.to_json()), where="config")
    folders = [tmp_path / f"shard{index}.cells" for index in range(2)]
    for place, row in enumerate(document["rows"]):
        record = Record("sha256:" + "d" * 64, header, executed, document["environment"], seal(row))
        write_record(folders[place % 2], record)
    return folders


def test_run_and_merge_say_the_same_in_any_order(config: AuditConfig, shards: list[Path], tmp_path: Path) -> None:
    here = conclude(shards, promise=config.promise)
    assert (here["claim"], here["preregistration"]["locked_on"]) == ("confirmatory_with_deviations", "2031-02-03")
    assert [item["id"] for item in here["deviations"]] == ["D1"]
    assert {item["claim"] for item in here["verdicts"]} == {"confirmatory_with_deviations"}
    out = tmp_path / "merged.json"
    for order in (shards, shards[::-1]):
        assert merge.main([*map(str, order), "--out", str(out), "--configs", str(tmp_path / "configs")]) == 0
        assert out.read_text(encoding="utf-8") == strict_json.dumps(here)


def test_a_part_of_the_promised_cells_confirms_nothing_and_says_so(
    config: AuditConfig, shards: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever may stop after any shard, or leave a cell out, chooses the result."""
    whole = conclude(shards, promise=config.promise)
    (first, *_) = sorted(shards[0].glob("*.json"))
    one_gone = [shards[1], first.parent]
    first.unlink()
    for folders, missing in ((one_gone, 1), (shards[:1], 17)):
        part = conclude(folders, promise=config.promise)
        assert (part["claim"], len(part["missing"])) == ("exploratory", missing)
        assert {item["claim"] for item in part["verdicts"]} == {"exploratory"}
        assert [item["id"] for item in part["deviations"]] == ["D1"]
        assert set(checked(part, config.promise).values()) == {State.PASS}
        claimed = part | {"claim": whole["claim"], "verdicts": [item | {"claim": whole["claim"]} for item in part["verdicts"]]}
        assert checked(claimed, config.promise)["claims"] is State.FAIL
    out = tmp_path / "merged.json"
    assert merge.main([*map(str, one_gone), "--out", str(out), "--configs", str(tmp_path / "configs")]) == 2
    assert "exploratory, for promised cells are without a row (1 of them)" in capsys.readouterr().out
    assert "(1 of them)" in leaderboard([("results_x.json", part | {"missing": part["missing"][:1]})])


def judged(config: AuditConfig, log: str, header: dict[str, Any], **manifest: str) -> str:
    """The label of the pilot's rows under this log and header, with another manifest."""
    Path(config.promise.where).with_name("deviations.yaml").write_text(log, encoding="utf-8")
    rows = [row | {"manifest": row["manifest"] | manifest} for row in PILOT["rows"]]
    return claim_of(config.promise, exact(config.executed), header["locked_on"], Made.of(header, rows, 0)).label


def test_other_sources_another_model_and_a_later_log_confirm_nothing(config: AuditConfig) -> None:
    claim, log = config.claim(), LOG.replace("DIGEST", config.promise.digest)
    header = config.promise.header(claim.locked_on, log_digest(claim.deviations))
    assert judged(config, log, header) == "confirmatory_with_deviations"
    assert judged(config, log, header, model="dreamer_lite") == "confirmatory_with_deviations"
    assert judged(config, log, header, model="sha256:" + "5" * 64) == "exploratory"
    assert judged(config, log, header, code="sha256:" + "5" * 64) == "exploratory"
    assert judged(config, log, config.promise.header(claim.locked_on)) == "exploratory", "logged after the rows"
    assert judged(config, log.replace("severity: none", "severity: some"), header) == "exploratory", "changed after the rows"


def test_other_sources_may_be_logged_beforehand(config: AuditConfig) -> None:
    other = "sha256:" + "5" * 64
    log = LOG.replace("DIGEST", config.promise.digest)
    entry = log[log.index("  - id: D1") :].replace("D1", "D2").replace("field: training.batch", "field: code_version")
    more = log + entry.replace("planned: 4", f'planned: "{CODE}"').replace("done: 8", f'done: "{other}"')
    Path(config.promise.where).with_name("deviations.yaml").write_text(more, encoding="utf-8")
    header = config.promise.header("2031-02-03", log_digest(load_deviations(config.promise)))
    assert judged(config, more, header, code=other) == "confirmatory_with_deviations"
    assert config.claim().label == "confirmatory_with_deviations", "said before the first cell is made"
    assert judged(config, more, header) == "exploratory", "logged and not done"


def test_a_superseded_promise_still_judges_its_run(config: AuditConfig, shards: list[Path], tmp_path: Path) -> None:
    before = strict_json.dumps(conclude(shards, promise=config.promise))
    configs = tmp_path / "configs"
    (configs / "superseded").mkdir()
    for name in ("preregistration.yaml", "preregistration.lock.json"):
        (configs / name).rename(configs / "superseded" / name.replace("preregistration", "version_0"))
    assert strict_json.dumps(conclude(shards, configs=configs)) == before


def test_without_its_promise_nothing_is_claimed_and_nothing_written(
    shards: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "merged.json"
    assert merge.main([*map(str, shards), "--out", str(out)]) == 2
    line = capsys.readouterr().err
    assert "--configs" in line
    assert len(line.strip().splitlines()) == 1
    assert not out.exists()


def checked(document: dict[str, Any], promise: Promise) -> dict[str, State]:
    """What the verifier says of promise, deviations and claim."""
    read = Subject(Path("results.json"), strict_json.dumps(document), document, None)
    found = Promised(promise, "", lock_of(promise), load_deviations(promise))
    return {
        check.name: check.state for check in (promised.lock(read, found), promised.deviations(read, found), promised.claims(read, found))
    }


def test_the_verifier_gives_the_claim_that_the_run_gave(config: AuditConfig, shards: list[Path]) -> None:
    here = conclude(shards, promise=config.promise)
    assert set(checked(here, config.promise).values()) == {State.PASS}
    unlogged = checked(here | {"deviations": []}, config.promise)
    assert (unlogged["deviations"], unlogged["claims"]) == (State.FAIL, State.PASS)


def test_rows_made_before_the_lock_verify_as_exploratory_alone(config: AuditConfig, shards: list[Path]) -> None:
    here = conclude(shards, promise=config.promise)
    late = here | {"preregistration": here["preregistration"] | {"locked_on": None}}
    assert checked(late, config.promise)["claims"] is State.FAIL
    honest = late | {"claim": "exploratory", "verdicts": [item | {"claim": "exploratory"} for item in late["verdicts"]]}
    assert set(checked(honest, config.promise).values()) == {State.PASS}
    forged = here | {"preregistration": here["preregistration"] | {"locked_on": "2030-01-01"}}
    assert checked(forged, config.promise)["lock"] is State.FAIL
