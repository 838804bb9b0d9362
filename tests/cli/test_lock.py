"""The lock command: create once, show in sentences, check with an authority of the test's own."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from wm_audit.cli import lock
from wm_audit.instruments.audit.protocol import SOURCES
from wm_audit.prereg.lock import read_lock
from wm_audit.prereg.promise import load_promise
from wm_audit.run.provenance import code_digest

ROOT = Path(__file__).resolve().parents[2]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def promise(tmp_path: Path, final_text: str) -> Path:
    """The project's promise as it would be when it is final."""
    path = tmp_path / "preregistration.yaml"
    path.write_text(final_text, encoding="utf-8")
    return path


def create(promise: Path, *options: str) -> int:
    return lock.main(["create", str(promise), "--results", str(promise.parent), *options])


def test_a_promise_is_locked_once_and_checked(promise: Path, capsys: Capture) -> None:
    assert lock.main(["check", str(promise)]) == 2
    assert "experiments.lock create" in capsys.readouterr().err
    assert create(promise) == 0
    assert create(promise) == 2
    assert "is there already" in capsys.readouterr().err
    assert lock.main(["check", str(promise)]) == 0
    assert lock.main(["check", str(promise), "--strict"]) == 1
    shown = capsys.readouterr().out
    assert "PASS          self: self-attested" in shown
    assert "CANNOT CHECK  commit" in shown
    promise.write_text(promise.read_text(encoding="utf-8").replace("margin: 0.4 ", "margin: 0.3 "), encoding="utf-8")
    assert lock.main(["check", str(promise)]) == 1
    assert "FAIL          lock: " in capsys.readouterr().out
    promise.with_name("preregistration.lock.json").write_text("{}", encoding="utf-8")
    assert lock.main(["check", str(promise)]) == 2
    assert "is no lock" in capsys.readouterr().err


def test_the_draft_of_the_project_is_not_locked_and_shown_in_sentences(capsys: Capture) -> None:
    assert lock.main(["create"]) == 2
    assert "is a draft" in capsys.readouterr().err
    assert lock.main(["show"]) == 0
    shown = capsys.readouterr().out
    assert "20 seeds x 3 capacities" in shown
    assert "lies inside (-0.4, 0.4), contradicted when wholly outside" in shown
    assert "a draft" in shown.splitlines()[0]


def test_a_main_result_under_another_promise_forbids_it(promise: Path, capsys: Capture) -> None:
    other = '{"config": {"mode": "main"}, "preregistration": {"digest": "sha256:%s"}}' % ("1" * 64)
    (promise.parent / "results_x.json").write_text(other, encoding="utf-8")
    assert create(promise) == 2
    assert "is a main result" in capsys.readouterr().err
    (promise.parent / "results_x.json").write_text("[]", encoding="utf-8")
    assert create(promise) == 2
    assert not promise.with_name("preregistration.lock.json").exists()


def write_result(promise: Path, digest: str, mode: str = "main") -> None:
    document = {"config": {"mode": mode}, "preregistration": {"digest": digest}}
    (promise.parent / "results_x.json").write_text(json.dumps(document), encoding="utf-8")


def superseding(text: str, digest: str) -> str:
    return re.sub(r"(?m)^supersedes: \S+", f"supersedes: {digest}", text)


def test_main_results_of_superseded_promises_are_no_hindrance_and_a_main_run_is_no_pilot(promise: Path, capsys: Capture) -> None:
    """Version 2 supersedes 1, which supersedes 0; calling the main run of 0 a pilot does not do."""
    text = promise.read_text(encoding="utf-8")
    folder = promise.parent / "superseded"
    folder.mkdir()
    digests = [load_promise(promise).digest]
    (folder / "v0.yaml").write_text(text, encoding="utf-8")
    one = superseding(text.replace("version: 0", "version: 1"), digests[0])
    (folder / "v1.yaml").write_text(one, encoding="utf-8")
    digests.append(load_promise(folder / "v1.yaml").digest)
    write_result(promise, digests[0])
    two = text.replace("version: 0", "version: 2")
    promise.write_text(re.sub(r"(?m)^pilots:.*\n(  - .*\n)*", f'pilots: ["{digests[0]}"]\n', two), encoding="utf-8")
    assert create(promise) == 2
    assert "name it under supersedes" in capsys.readouterr().err
    assert not promise.with_name("preregistration.lock.json").exists()
    promise.write_text(superseding(two, digests[1]), encoding="utf-8")
    assert create(promise) == 0


def test_a_pilot_is_no_main_result(promise: Path) -> None:
    write_result(promise, "sha256:" + "1" * 64, mode="pilot")
    assert create(promise) == 0


def test_main_results_are_looked_for_where_runs_put_them(promise: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A main run writes to scratch unless told otherwise."""
    monkeypatch.chdir(promise.parent)
    (promise.parent / "scratch").mkdir()
    write_result(promise, "sha256:" + "1" * 64)
    (promise.parent / "results_x.json").rename(promise.parent / "scratch" / "results_x.json")
    assert lock.main(["create", str(promise)]) == 2
    assert "scratch/results_x.json: is a main result" in capsys.readouterr().err


def test_the_lock_says_which_sources_were_there(promise: Path) -> None:
    create(promise)
    found = read_lock(promise.with_name("preregistration.lock.json"))
    assert found.code_version == code_digest(SOURCES)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--canonical"],
        ["create", "--strict"],
        ["show", "--results", "x"],
        ["show", "--timestamp-token", "x", "--tsa-certificate", "y"],
    ],
)
def test_an_option_of_another_action_is_wrong_usage(promise: Path, arguments: list[str], capsys: Capture) -> None:
    assert lock.main([arguments[0], str(promise), *arguments[1:]]) == 3
    line = capsys.readouterr().err
    assert "belongs to" in line
    assert len(line.strip().splitlines()) == 1


def test_a_commit_is_evidence(promise: Path, capsys: Capture) -> None:
    create(promise)
    for line in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "lock"]):
        subprocess.run(["git", "-C", str(promise.parent), *line], check=True, capture_output=True)
    capsys.readouterr()
    assert lock.main(["check", str(promise)]) == 0
    assert "PASS          commit: commit" in capsys.readouterr().out


def test_the_token_needs_its_certificate(promise: Path, capsys: Capture) -> None:
    assert create(promise, "--timestamp-token", "x.tsr") == 3
    assert "both or none" in capsys.readouterr().err
    assert create(promise, "--timestamp-token", "x.tsr", "--tsa-certificate", "x.pem") == 2
    assert "x.tsr" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_an_authority_vouches_for_the_promise_and_not_for_a_changed_one(
    promise: Path, tmp_path: Path, authority: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    tsa = tmp_path / "tsa"
    tsa.mkdir()
    reply, certificate = stamped(promise, tsa, authority, capsysbinary)
    options = ["--timestamp-token", str(reply), "--tsa-certificate", str(certificate)]
    text = promise.read_text(encoding="utf-8")
    promise.write_text(text.replace("margin: 0.4 ", "margin: 0.3 "), encoding="utf-8")
    assert create(promise, *options) == 2
    assert b"openssl refuses the token" in capsysbinary.readouterr().err
    promise.write_text(text, encoding="utf-8")
    assert create(promise, *options) == 0
    capsysbinary.readouterr()
    assert lock.main(["check", str(promise)]) == 0
    assert b"PASS          rfc3161: an authority says that the promise existed before" in capsysbinary.readouterr().out
    path = promise.with_name("preregistration.lock.json")
    entry = path.read_text(encoding="utf-8")
    token = re.search(r'"token": "([^"]+)"', entry)
    assert token is not None
    middle = len(token[1]) // 2
    changed = token[1][:middle] + ("A" if token[1][middle] != "A" else "B") + token[1][middle + 1 :]
    path.write_text(entry.replace(token[1], changed), encoding="utf-8")
    assert lock.main(["check", str(promise)]) == 1
    assert b"FAIL          rfc3161" in capsysbinary.readouterr().out


def stamped(promise: Path, tsa: Path, authority: str, capsysbinary: pytest.CaptureFixture[bytes]) -> tuple[Path, Path]:
    """A time-stamp reply over the promise by an authority made here, and its certificate."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=tsa)

    capsysbinary.readouterr()
    assert lock.main(["show", str(promise), "--canonical"]) == 0
    (tsa / "promise.bin").write_bytes(capsysbinary.readouterr().out)
    (tsa / "own.cnf").write_text(authority, encoding="ascii")
    (tsa / "serial").write_text("01\n", encoding="ascii")
    subject = ["-subj", "/CN=own authority", "-config", "own.cnf", "-extensions", "ext"]
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "3650", *subject)
    openssl("ts", "-query", "-data", "promise.bin", "-sha256", "-cert", "-out", "q.tsq")
    openssl("ts", "-reply", "-config", "own.cnf", "-queryfile", "q.tsq", "-signer", "cert.pem", "-inkey", "key.pem", "-out", "r.tsr")
    return tsa / "r.tsr", tsa / "cert.pem"
