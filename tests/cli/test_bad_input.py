"""Bad input: one line that names the place, what was expected and the fix; the right exit code; nothing written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from wm_audit.cli import make_leaderboard, merge, run_audit

RUN = "name: mine\nmode: pilot\nenvironments: [pixel_nav]\nseeds: [0]\ntraining: {steps: 5}\n"
Line = Callable[[], str]
Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (RUN + "sedes: [1]\n", "seeds"),
        (RUN + "seeds: [1]\n", "seeds"),
        (RUN + "planning: {candidates: 1e3}\n", "planning.candidates"),
        (RUN + "collection: {steps: 200k}\n", "collection.steps"),
        (RUN + "collection: {steps: 200001}\n", "at most 100000"),
        (RUN + "evaluation: {context: 5}\n", "evaluation.context"),
        (RUN.replace("[pixel_nav]", "[pixel_navv]"), "pixel_nav"),
        (RUN.replace("mode: pilot", "mode: pilots"), "mode"),
        ("name: [\n", "mine.yaml"),
        (RUN + "preregistration: nowhere.yaml\n", "nowhere.yaml"),
    ],
)
def test_a_run_that_is_no_slice_is_refused(run: str, said: str, write_run: Write, one_line: Line, tmp_path: Path) -> None:
    out = tmp_path / "out" / "results.json"
    assert run_audit.main(["--config", str(write_run(run)), "--out", str(out)]) == 2
    assert said in one_line()
    assert not out.parent.exists()


@pytest.mark.parametrize(
    ("run", "change", "named"),
    [
        (RUN, ("    image: 32", "    image: 7"), ("preregistration.yaml: environments.pixel_nav", "pixel_nav.image", "found 7", "fix:")),
        (RUN, ("  patch: 8", "  patch: 5"), ("preregistration.yaml: model.patch", "does not divide the 32x32 image", "fix:")),
        (RUN + "collection: {steps: 30}\n", ("", ""), ("mine.yaml: collection", "30 steps leave no episode", "raise collection.steps")),
        (RUN + "collection: {steps: 900}\n", ("", ""), ("mine.yaml: collection", "at least 3, one per split", "fix:")),
        (RUN + "evaluation: {starts: 19}\n", ("", ""), ("mine.yaml, line 6", "evaluation.starts", "at least 20")),
    ],
)
def test_what_no_cell_could_do_is_refused_before_the_first(
    run: str, change: tuple[str, str], named: tuple[str, ...], write_run: Write, one_line: Line, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "r.json"
    assert run_audit.main(["--config", str(write_run(run, change)), "--out", str(out)]) == 2
    line = one_line()
    assert all(words in line for words in named), line
    assert not out.parent.exists()


def test_an_unknown_environment_in_a_promise_is_named(write_run: Write, one_line: Line, tmp_path: Path) -> None:
    run = write_run(RUN.replace("pixel_nav", "pixel_now"), ("  pixel_nav:", "  pixel_now:"))
    assert run_audit.main(["--config", str(run), "--out", str(tmp_path / "out" / "r.json")]) == 2
    line = one_line()
    assert "pixel_now" in line
    assert "pixel_nav" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--shard", "2/2"], "--shard"),
        (["--shard", "half"], "--shard"),
        (["--jobs", "0"], "--jobs"),
        (["--model", "no_such_model"], "--model"),
        (["--model", "missing.py:build"], "missing.py"),
        (["--arms", "trained,orcale"], "--arms"),
        (["--mode", "main"], "--mode"),
        (["--out", "results.txt"], "--out"),
    ],
)
def test_wrong_values_on_the_command_line_give_3(arguments: list[str], said: str, write_run: Write, one_line: Line, tmp_path: Path) -> None:
    base = [] if "--out" in arguments else ["--out", str(tmp_path / "out" / "r.json")]
    assert run_audit.main(["--config", str(write_run()), *base, *arguments]) == 3
    assert said in one_line()
    assert not (tmp_path / "out" / "r.json").exists()


def test_a_folder_under_the_results_name_is_refused_before_any_work(write_run: Write, one_line: Line, tmp_path: Path) -> None:
    (tmp_path / "r.json").mkdir()
    assert run_audit.main(["--config", str(write_run()), "--out", str(tmp_path / "r.json")]) == 3
    assert "is a folder" in one_line()
    assert not (tmp_path / "r.cells").exists()


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--mode", "mian"], ["--jobs", "two"], ["--conf", "x.yaml"]])
def test_what_the_parser_refuses_gives_3_on_one_line(arguments: list[str], one_line: Line) -> None:
    with pytest.raises(SystemExit) as stop:
        run_audit.main(arguments)
    assert stop.value.code == 3
    assert "--help" in one_line()


def test_a_missing_config_is_named(one_line: Line, tmp_path: Path) -> None:
    assert run_audit.main(["--config", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in one_line()


def test_merging_what_holds_no_records_is_refused(one_line: Line, tmp_path: Path) -> None:
    assert merge.main([str(tmp_path / "nothing.cells"), "--out", str(tmp_path / "merged.json")]) == 2
    assert "nothing.cells" in one_line()
    assert not (tmp_path / "merged.json").exists()


def test_a_readme_or_board_that_is_no_text_is_named_or_replaced(one_line: Line, tmp_path: Path) -> None:
    """The README is a person's; the board is generated, and what stands in its place is written anew."""
    folder = tmp_path / "leaderboard"
    folder.mkdir()
    shutil.copy(Path(__file__).parents[2] / "leaderboard" / "results_pixel_nav_pilot.json", folder)
    (tmp_path / "README.md").write_bytes(b"caf\xe9\n")
    assert make_leaderboard.main(["--folder", str(folder)]) == 2
    line = one_line()
    assert all(words in line for words in ("README.md", "is not UTF-8 text (byte 3)", "fix: save it as UTF-8")), line
    assert not (folder / "LEADERBOARD.md").exists()
    (tmp_path / "README.md").unlink()
    (folder / "LEADERBOARD.md").write_bytes(b"caf\xe9\n")
    assert make_leaderboard.main(["--folder", str(folder), "--check"]) == 1
    assert make_leaderboard.main(["--folder", str(folder)]) == 0
    assert make_leaderboard.main(["--folder", str(folder), "--check"]) == 0
