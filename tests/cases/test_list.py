"""The list of cases: which file tests each, and which wait for a part that does not exist yet.

A case is tested beside the code that it concerns, by a function that carries its id.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
_STATISTICS = ("cases/test_k01_to_k09.py",)
_PLANNER = ("policy/test_cases.py",)

TESTED: dict[str, tuple[str, ...]] = {
    "k01": _STATISTICS,
    "k02": _STATISTICS,
    "k03": _STATISTICS,
    "k04": _STATISTICS,
    "k05": _STATISTICS,
    "k06": _STATISTICS,
    "k07": _STATISTICS,
    "k08": _STATISTICS,
    "k09": _STATISTICS,
    "k10": ("diagnostics/test_ssim.py",),
    "k11": ("diagnostics/features/test_images.py",),
    "k12": ("diagnostics/features/test_frechet.py",),
    "k13": (
        "contracts/test_diagnostics.py",
        "diagnostics/features/test_ftd_transnetv2.py",
        "diagnostics/features/test_paired.py",
        "diagnostics/test_rollout.py",
    ),
    "k14": ("cases/test_k01_to_k09.py", "diagnostics/test_return_ece.py"),
    "k15": ("diagnostics/test_uncertainty.py",),
    "k16": ("data/test_collect.py", "data/test_replay.py"),
    "k17": ("data/test_replay.py", "models/dreamer_lite/test_unroll.py"),
    "k18": ("instruments/audit/test_answers.py", "models/dreamer_lite/test_loss.py"),
    "k19": ("models/dreamer_lite/test_unroll.py",),
    "k20": ("diagnostics/test_return_ece.py", "train/test_fit.py"),
    "k23": _PLANNER,
    "k24": _PLANNER,
    "k25": _PLANNER,
    "k26": _PLANNER,
    "k27": ("cases/test_k01_to_k09.py", "policy/test_cases.py"),
    "k31": ("cases/test_k31_to_k41.py", "instruments/audit/test_answers.py"),
    "k32": ("cases/test_k31_to_k41.py",),
    "k33": ("run/test_grid.py",),
    "k34": (
        "core/test_streams.py",
        "data/test_collect.py",
        "data/test_once.py",
        "data/test_probe.py",
        "data/test_replay.py",
        "run/test_grid.py",
    ),
    "k35": ("deploy/test_twins.py", "models/dreamer_lite/test_decode.py"),
    "k36": ("deploy/test_twins.py", "instruments/audit/test_answers.py"),
    "k39": ("prereg/test_strict_yaml.py",),
    "k40": ("cases/test_k31_to_k41.py", "run/test_grid.py"),
    "k41": ("core/test_cell_record.py", "run/test_grid.py"),
}

WAITING: dict[str, str] = {
    "k21": "discount of a dm_env step: there is no dm_control environment",
    "k22": "action repeat over episodes: there is no wrapper that repeats actions",
    "k28": "a wrong back-end name: nothing draws through OpenGL, and there is no doctor",
    "k29": "a second renderer: nothing draws through OpenGL",
    "k30": "rendering after a fork: nothing draws through OpenGL",
    "k37": "masks of a pruned model: there is no pruning",
    "k38": "teacher outputs in another order: there is no distillation",
}


def named(file: Path) -> Iterator[str]:
    """The ids that the names of a file's test functions carry."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield from re.findall(r"(?<=_)k\d\d(?=_)", node.name, re.IGNORECASE)


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    """The files whose tests carry an id, from the tests themselves."""
    files: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        for case in named(path):
            files.setdefault(case, set()).add(path.relative_to(TESTS).as_posix())
    return files


def test_every_case_is_tested_or_waits_for_a_reason() -> None:
    ids = [f"k{number:02d}" for number in range(1, 42)]
    assert sorted([*TESTED, *WAITING]) == ids
    assert all(len(reason) > 20 for reason in WAITING.values())


def test_the_list_says_where_the_tests_are(found: dict[str, set[str]]) -> None:
    assert {case: tuple(sorted(files)) for case, files in found.items()} == TESTED


def test_a_case_that_waits_has_no_test(found: dict[str, set[str]]) -> None:
    assert not found.keys() & WAITING.keys()  # it has come: move it to the list of tested cases


def test_ids_are_read_from_names(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(
        "def test_k33_k34_two() -> None: ...\ndef test_mark9_k1() -> None: ...\ndef k35_no_test() -> None: ...\n", encoding="utf-8"
    )
    assert list(named(path)) == ["k33", "k34"]
