"""The lock command: create once, show in sentences, check with an authority of the test's own."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from wm_audit.cli import lock

ROOT = Path(__file__).resolve().parents[2]
POWER = (
    "power:\n  intra_seed_correlation: 0.5\n  source: assumed\n  table:\n"
    "    - {question: H1, seeds: 20, capacities: 3, true_value: 0, share_decided: 0.57}\n"
)
OPENSSL = """[tsa]
default_tsa = own
[own]
serial = {0}/serial
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
[ext]
extendedKeyUsage = critical,timeStamping
[req]
distinguished_name = dn
[dn]
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def promise(tmp_path: Path) -> Path:
    """The project's promise as it would be when it is final."""
    text = (ROOT / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    text = re.sub(r"power: null[^\n]*\n", POWER, text.replace("status: draft", "status: locked"))
    path = tmp_path / "preregistration.yaml"
    path.write_text(text, encoding="utf-8")
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
    shown = capsys.readouterr().out
    assert "PASS          self: self-attested" in shown
    assert "CANNOT CHECK  commit" in shown
    promise.write_text(promise.read_text(encoding="utf-8").replace("margin: 0.4 ", "margin: 0.3 "), encoding="utf-8")
    assert lock.main(["check", str(promise)]) == 2
    assert "its lock names" in capsys.readouterr().err


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
    promise: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    tsa = tmp_path / "tsa"
    tsa.mkdir()
    reply, certificate = stamped(promise, tsa, capsysbinary)
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


def stamped(promise: Path, tsa: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> tuple[Path, Path]:
    """A time-stamp reply over the promise by an authority made here, and its certificate."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=tsa)

    capsysbinary.readouterr()
    assert lock.main(["show", str(promise), "--canonical"]) == 0
    (tsa / "promise.bin").write_bytes(capsysbinary.readouterr().out)
    (tsa / "own.cnf").write_text(OPENSSL.format(tsa), encoding="ascii")
    (tsa / "serial").write_text("01\n", encoding="ascii")
    subject = ["-subj", "/CN=own authority", "-config", "own.cnf", "-extensions", "ext"]
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "3650", *subject)
    openssl("ts", "-query", "-data", "promise.bin", "-sha256", "-cert", "-out", "q.tsq")
    openssl("ts", "-reply", "-config", "own.cnf", "-queryfile", "q.tsq", "-signer", "cert.pem", "-inkey", "key.pem", "-out", "r.tsr")
    return tsa / "r.tsr", tsa / "cert.pem"
