"""People see how far it is; files of times survive a kill."""

import io
from pathlib import Path

from wm_audit.run import timings
from wm_audit.run.progress import Progress, clock_text


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_plain_lines_count_name_and_predict() -> None:
    clock, out = Clock(), io.StringIO()
    with Progress(6, kept=2, out=out, clock=clock) as shown:
        shown.now("group a")
        clock.seconds = 10.0
        shown.done("cell a")
        clock.seconds = 30.0
        shown.failed("cell b", "it broke")
    assert out.getvalue().splitlines() == [
        "2/6 cells, time left not known yet, group a",
        "3/6 cells, about 0:00:30 left, cell a",
        "FAILED cell b: it broke",
        "3/6 cells, 1 failed, about 0:00:30 left, cell a",
    ]


def test_lines_between_cells_come_at_most_every_few_seconds() -> None:
    clock, out = Clock(), io.StringIO()
    with Progress(1, out=out, clock=clock) as shown:
        for step in range(100):
            clock.seconds = step / 10
            shown.now(f"training {step}")
    assert len(out.getvalue().splitlines()) == 2


def test_a_terminal_gets_a_bar_and_lines_that_stay() -> None:
    out = io.StringIO()
    with Progress(3, kept=1, out=out, terminal=True) as shown:
        shown.now("group a: training")
        shown.done("cell a")
        shown.say("a line")
        shown.failed("cell b", "it broke")
    text = out.getvalue()
    assert "3/3" in text
    assert "cell a" in text
    assert "a line\n" in text
    assert "FAILED cell b: it broke\n" in text


def test_clock_text() -> None:
    assert [clock_text(item) for item in (0, 59.6, 3725, 360000)] == ["0:00:00", "0:01:00", "1:02:05", "100:00:00"]


def test_a_torn_last_line_spoils_only_itself(tmp_path: Path) -> None:
    assert timings.read(tmp_path) == ([], 0)
    timings.append(tmp_path, {"cell": "a", "took": 1.5})
    timings.append(tmp_path, {"cell": "ä"})
    whole = (tmp_path / timings.FILE).read_bytes()
    for cut in range(1, len('{"cell": "ä"}'.encode()) + 1):
        (tmp_path / timings.FILE).write_bytes(whole[:-cut])
        entries, torn = timings.read(tmp_path)
        assert entries[0] == {"cell": "a", "took": 1.5}
        assert (len(entries), torn) in ((1, 1), (2, 0), (1, 0))
        timings.append(tmp_path, {"cell": "c"})
        entries, _ = timings.read(tmp_path)
        assert (entries[0]["cell"], entries[-1]["cell"]) == ("a", "c")
