"""What the pages and the commands' own help tell people to type can be typed."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

from wm_audit.prereg.audit_config import load_config

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = sorted(path.stem for path in (ROOT / "experiments").glob("*.py") if path.stem != "__init__")
_OUTPUTS = ("--out", "--csv", "--json")


def helped(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"experiments.{command}").main(["--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def typed(text: str) -> list[tuple[str, list[str]]]:
    """Every command on a page: its name and its words, up to a comment, a wide gap, or the end of the code."""
    found = re.findall(r"python -m experiments\.(\w+)((?: [^\n`#;)]+)?)", text)
    return [(name, shlex.split(re.split(r"\s{2,}|-->", rest)[0])) for name, rest in found]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_on_pages_and_in_help_have_flags_and_files_that_exist(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    taught = helped(command, capsys)
    flags = set(re.findall(r"--[a-z][a-z-]*", taught.partition("examples:")[0]))
    assert any(name == command for name, _ in typed(taught)), "the help has an example"
    for place, text in [(page.name, page.read_text(encoding="utf-8")) for page in PAGES] + [("--help", taught)]:
        for _, words in (item for item in typed(text) if item[0] == command):
            for before, word in zip(["", *words], words, strict=False):
                if word.startswith("--"):
                    assert word in flags, f"{place}: {command} {word}"
                elif re.match(r"(configs|leaderboard|docs)/", word) and before not in _OUTPUTS:
                    assert (ROOT / word).exists(), f"{place}: {command} {word}"


def test_the_run_of_the_readme_is_a_slice_of_the_promise(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(# my_run\.yaml\n.*?)```", PAGES[0].read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "my_run.yaml").write_text(block, encoding="utf-8")
    config = load_config(tmp_path / "my_run.yaml")
    assert (config.name, config.relation) == ("mine", "slice")
