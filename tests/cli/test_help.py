"""Help teaches: what the command is for, examples, exit codes."""

import importlib

import pytest

from wm_audit import cli


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_teaches(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([name.replace("_", "-"), "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"python -m experiments.{name}" in text
    assert "examples:" in text
    assert "exit codes" in text
    assert importlib.import_module(f"experiments.{name}").main is importlib.import_module(f"wm_audit.cli.{name}").main


def test_the_entry_point_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in cli.COMMANDS)
    assert cli.main(["paint"]) == 3
    assert "run_audit" in capsys.readouterr().err
