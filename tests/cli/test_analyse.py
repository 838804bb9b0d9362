"""Rows measured elsewhere are judged by the same rules, without torch."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wm_audit.board import results
from wm_audit.cli import analyse, make_leaderboard
from wm_audit.instruments.audit.decide import document
from wm_audit.stats import within_capacity_rho

ROOT = Path(__file__).resolve().parents[2]


def test_a_csv_is_judged(rows_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results_mine.json"
    assert analyse.main([str(rows_csv), "--out", str(out)]) == 0
    document = results.read(out)
    assert document["claim"] == "exploratory"
    found = {item["diagnostic"]: item for item in document["statistics"]["my_world"]["correlations"]}
    ranks = [[seed, seed] for seed in range(5)]
    assert found["pixel_mse"]["rho"] == within_capacity_rho(ranks, ranks).value == 1.0
    assert found["pixel_ssim"]["rho"] is None
    assert found["pixel_ssim"]["reason"] is not None
    assert {item["question"]: item["label"] for item in document["verdicts"]}["H1"] == "UNMEASURABLE"
    assert "my_world" in capsys.readouterr().out


def test_a_results_file_is_judged_again_to_the_same_statistics(rows_csv: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "results_one.json", tmp_path / "results_two.json"
    assert analyse.main([str(rows_csv), "--out", str(first)]) == 0
    assert analyse.main([str(first), "--out", str(second)]) == 0
    assert results.read(first)["statistics"] == results.read(second)["statistics"]


def test_a_result_is_what_its_own_rows_and_configuration_give(rows_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "results_mine.json"
    assert analyse.main([str(rows_csv), "--out", str(out)]) == 0
    found = results.read(out)
    again = document(found["rows"], found["preregistration"], found["config"], found["environment"])
    assert again["statistics"] == found["statistics"]  # lists in the same order too
    assert again["digest"] == found["digest"]


@pytest.mark.parametrize(
    ("found", "wanted", "said"),
    [
        ("probe_degenerate", "", "reason code"),
        ("probe_degenerate", "nan", "finite"),
        ("probe_degenerate", "n/a", "column counterfactual_tau"),
        ("outcome", "result", "outcome"),
        ("pixel_mse", "pixel_rmse", "pixel_rmse"),
        ("my_world,16,16,0", "my_world,16.5,16,0", "line 2 column hidden"),
    ],
)
def test_a_bad_table_is_refused_with_its_place(
    rows_csv: Path, found: str, wanted: str, said: str, one_line: Callable[[], str], tmp_path: Path
) -> None:
    rows_csv.write_text(rows_csv.read_text(encoding="utf-8").replace(found, wanted, 1), encoding="utf-8")
    assert analyse.main([str(rows_csv), "--out", str(tmp_path / "results_x.json")]) == 2
    line = one_line()
    assert said in line
    assert "rows.csv" in line
    assert not (tmp_path / "results_x.json").exists()


def test_no_torch_is_imported(rows_csv: Path) -> None:
    code = "import sys; from wm_audit.cli.analyse import main; code = main(sys.argv[1:]); sys.exit(9 if 'torch' in sys.modules else code)"
    done = subprocess.run([sys.executable, "-c", code, str(rows_csv)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_leaderboard_is_written_checked_and_quoted(rows_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "leaderboard"
    assert analyse.main([str(rows_csv), "--out", str(folder / "results_mine.json")]) == 0
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- leaderboard/results_mine.json: quoted -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    arguments = ["--folder", str(folder)]
    assert make_leaderboard.main([*arguments, "--check"]) == 1
    assert not (folder / "LEADERBOARD.md").exists()
    assert make_leaderboard.main(arguments) == 0
    assert make_leaderboard.main([*arguments, "--check"]) == 0
    text = readme.read_text(encoding="utf-8")
    assert "old" not in text
    assert "H1 UNMEASURABLE" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    board = folder / "LEADERBOARD.md"
    board.write_text(board.read_text(encoding="utf-8").replace("my_world", "your_world", 1), encoding="utf-8")
    assert make_leaderboard.main([*arguments, "--check"]) == 1
    readme.write_text("<!-- leaderboard/results_other.json -->\n<!-- end -->\n", encoding="utf-8")
    assert make_leaderboard.main(arguments) == 2
    assert "results_other.json" in capsys.readouterr().err
    elsewhere = "<!-- docs/results_other.json -->\nkept\n<!-- end -->\n"  # quotes a folder of its own
    readme.write_text(elsewhere, encoding="utf-8")
    assert make_leaderboard.main(arguments) == 0
    assert readme.read_text(encoding="utf-8") == elsewhere


def test_the_published_board_and_the_readme_are_what_the_results_say() -> None:
    assert make_leaderboard.main(["--check"]) == 0


def test_a_results_file_is_judged_only_with_its_seals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = ROOT / "leaderboard" / "results_pixel_nav_pilot.json"
    path = tmp_path / "results.json"
    text = published.read_text(encoding="utf-8")
    place = text.index("0.", text.index('"rows"')) + 2
    path.write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :], encoding="utf-8")
    assert analyse.main([str(path)]) == 2
    assert "results.json" in capsys.readouterr().err


def test_the_evidence_is_never_written_over(rows_csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows_csv.read_bytes()
    assert analyse.main([str(rows_csv), "--out", str(rows_csv)]) == 3
    assert "which is read" in capsys.readouterr().err
    assert rows_csv.read_bytes() == before
