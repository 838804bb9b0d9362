"""What speaks for the time of a lock speaks for this lock, and says so when it cannot be asked."""

import base64
import shutil
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from wm_audit.core import AuditError
from wm_audit.prereg.lock import Lock, create, lock_of, lock_path
from wm_audit.prereg.promise import Promise, load_promise
from wm_audit.prereg.time_evidence import Finding, canonical, findings, lock_commit, token

Git = Callable[..., str]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None or shutil.which("git") is None, reason="needs git and ssh-keygen")
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture
def promise(tmp_path: Path, final_text: str) -> Promise:
    """A promise in a folder of its own, locked."""
    path = tmp_path / "configs" / "preregistration.yaml"
    path.parent.mkdir()
    path.write_text(final_text, encoding="utf-8")
    found = load_promise(path)
    create(found, locked_on=date(2031, 2, 3), code_version="sha256:" + "c" * 64, ran=())
    return found


@pytest.fixture
def git(promise: Promise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Git in the promise's folder, deaf to this machine's settings; the lock is committed."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    folder = Path(promise.where).parent

    def run(*arguments: str, said: str | None = None) -> str:
        line = ["git", "-C", str(folder), *arguments]
        return subprocess.run(line, check=True, capture_output=True, text=True, input=said).stdout.strip()

    run("init", "-q")
    run("config", "user.name", "author")
    run("config", "user.email", "author@example.org")
    run("add", ".")
    run("commit", "-qm", "lock")
    return run


def told(promise: Promise) -> dict[str, Finding]:
    lock = lock_of(promise)
    assert lock is not None
    return {item.kind: item for item in findings(promise, lock)}


@needs_git
def test_an_older_commit_says_nothing_about_another_lock(promise: Promise, git: Git) -> None:
    """Delete the lock, change the promise, lock again without a commit: the old commit must not vouch for the new lock."""
    assert told(promise)["commit"].state == "holds"
    path = Path(promise.where)
    path.write_text(path.read_text(encoding="utf-8").replace("margin: 0.4 ", "margin: 0.7 "), encoding="utf-8")
    lock_path(path).unlink()
    again = load_promise(path)
    create(again, locked_on=date(2030, 1, 1), code_version="sha256:" + "c" * 64, ran=())
    assert told(again)["commit"].state == "unknown"
    git("add", ".")
    git("commit", "-qm", "lock again")
    assert git("rev-parse", "HEAD")[:12] in told(again)["commit"].sentence


@needs_git
def test_a_superseded_lock_keeps_its_first_commit(promise: Promise, git: Git) -> None:
    """Results descend from the commit that locked, not from the one that moved the lock away."""
    first, folder = git("rev-parse", "HEAD"), Path(promise.where).parent
    git("commit", "-q", "--allow-empty", "-m", "results")
    (folder / "superseded").mkdir()
    git("mv", "preregistration.yaml", "superseded/version_0.yaml")
    git("mv", "preregistration.lock.json", "superseded/version_0.lock.json")
    git("commit", "-qm", "supersede")
    assert lock_commit(folder / "superseded" / "version_0.lock.json") == first


@needs_ssh
def test_a_signature_is_told_from_a_bad_one_and_from_none(promise: Promise, git: Git, tmp_path: Path) -> None:
    assert "signature" not in told(promise)
    key, allowed = tmp_path / "key", tmp_path / "allowed"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, capture_output=True)
    git("config", "gpg.format", "ssh")
    git("config", "user.signingkey", str(key))
    git("commit", "-q", "--amend", "--no-edit", "-S")
    assert told(promise)["signature"].state == "unknown"  # nobody here says whose key it is
    public = key.with_suffix(".pub").read_text(encoding="ascii")
    allowed.write_text(f"author@example.org {public}", encoding="ascii")
    git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    assert told(promise)["signature"].state == "holds"
    allowed.write_text("", encoding="ascii")
    assert told(promise)["signature"].state == "unknown"
    allowed.write_text(f"author@example.org {public}", encoding="ascii")
    changed = git("cat-file", "commit", "HEAD").replace("\nlock", "\nlocked long ago")
    git("update-ref", "HEAD", git("hash-object", "-w", "-t", "commit", "--stdin", said=changed + "\n"))
    assert told(promise)["signature"].state == "fails"


@needs_git
def test_without_git_nothing_is_said_of_commits(promise: Promise, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(promise)["commit"].state == "holds"
    monkeypatch.setenv("PATH", "")
    assert lock_commit(lock_path(Path(promise.where))) is None
    found = told(promise)
    assert (found["self"].state, found["commit"].state, "signature" in found) == ("holds", "unknown", False)


@pytest.fixture
def stamp(tmp_path: Path, promise: Promise, authority: str) -> Callable[[int], tuple[Path, Path]]:
    """A reply over the promise by an authority made here whose certificate is good for so many days, and that certificate."""
    folder = tmp_path / "authority"
    folder.mkdir()
    (folder / "own.cnf").write_text(authority, encoding="ascii")
    (folder / "serial").write_text("01\n", encoding="ascii")
    (folder / "promise.bin").write_bytes(canonical(promise))

    def openssl(line: str) -> None:
        subprocess.run(["openssl", *line.split()], check=True, capture_output=True, cwd=folder)

    def make(days: int) -> tuple[Path, Path]:
        openssl("genrsa -out key.pem 2048")
        openssl("req -new -key key.pem -out own.csr -subj /CN=own -config own.cnf")
        openssl(f"x509 -req -in own.csr -signkey key.pem -days {days} -extfile own.cnf -extensions ext -out own.pem")
        openssl("ts -query -data promise.bin -sha256 -cert -out own.tsq")
        openssl("ts -reply -config own.cnf -queryfile own.tsq -signer own.pem -inkey key.pem -out own.tsr")
        return folder / "own.tsr", folder / "own.pem"

    return make


def held(promise: Promise, entry: dict[str, str]) -> Finding:
    lock = Lock(promise.version, promise.digest, "2031-02-03", "sha256:" + "c" * 64, ({"kind": "self"}, entry))
    return findings(promise, lock)[-1]


@needs_openssl
def test_an_authority_is_named_and_its_absence_is_no_pass(
    promise: Promise, stamp: Callable[[int], tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, certificate = stamp(30)
    entry = token(reply, certificate, promise)
    found = held(promise, entry)
    assert (found.kind, found.state) == ("rfc3161", "holds")
    assert "it calls itself CN=own" in found.sentence
    monkeypatch.setenv("PATH", "")
    absent = held(promise, entry)
    assert (absent.kind, absent.state) == ("rfc3161", "unknown")
    assert "no openssl" in absent.sentence
    with pytest.raises(AuditError, match="no openssl"):
        token(reply, certificate, promise)


@needs_openssl
def test_a_certificate_that_has_expired_since_neither_proves_nor_disproves(
    promise: Promise, stamp: Callable[[int], tuple[Path, Path]]
) -> None:
    reply, certificate = stamp(-1)
    entry = {
        "kind": "rfc3161",
        "token": base64.b64encode(reply.read_bytes()).decode("ascii"),
        "certificate": certificate.read_text(encoding="ascii"),
    }
    found = held(promise, entry)
    assert found.state == "unknown"
    assert "expired" in found.sentence


@needs_openssl
@pytest.mark.parametrize(("token_text", "certificate"), [("no base64!", ""), ("AAAA", ""), ("", "-----BEGIN CERTIFICATE-----\n")])
def test_what_is_no_token_fails(promise: Promise, token_text: str, certificate: str) -> None:
    assert held(promise, {"kind": "rfc3161", "token": token_text, "certificate": certificate}).state == "fails"


def test_a_lock_names_the_version_that_it_locks(promise: Promise) -> None:
    path = lock_path(Path(promise.where))
    path.write_text(path.read_text(encoding="utf-8").replace('"version": 0', '"version": 7'), encoding="utf-8")
    with pytest.raises(AuditError, match=r"as version 0, its lock names .* as version 7"):
        lock_of(promise)
