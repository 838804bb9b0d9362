import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from wm_audit.board.layout import Notes, fold, markdown_table, text_table
from wm_audit.board.numbers import bounds, mean_interval, plain, probability, rho


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (0.012345, "0.0123"),
        (-12.345, "-12.3"),
        (1234.5, "1234"),
        (0.000123, "0.000123"),
        (1.2e-7, "1.2e-07"),
        (3.2e8, "3.2e+08"),
        (999.96, "1000"),
    ],
)
def test_three_digits_and_no_exponent_where_a_person_can_do_without(value: float, text: str) -> None:
    assert plain(value) == text


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e300, 1e300))
def test_what_is_printed_is_the_number_to_two_digits(value: float) -> None:
    assert float(plain(value)) == pytest.approx(value, rel=0.05)


def test_correlations_p_values_and_bounds() -> None:
    assert rho(0.3996) == "+0.400"
    assert rho(-0.5) == "-0.500"
    assert probability(0.0001) == "0.0001"
    assert probability(1.9e-6) == "2e-06"
    assert bounds((-0.5, 0.25)) == "[-0.500, +0.250]"
    assert bounds(None) == "–"


def test_the_interval_of_a_mean_is_students() -> None:
    values = [1.0, 2.5, 2.0, 4.0]
    mean, interval = mean_interval(values, 0.9)
    low, high = t.interval(0.9, 3, loc=np.mean(values), scale=np.std(values, ddof=1) / 2)
    assert mean == pytest.approx(2.375)
    assert interval == pytest.approx((low, high))
    assert mean_interval([1.0], 0.9) == (1.0, None)
    with pytest.raises(ValueError, match="empty"):
        mean_interval([], 0.9)


def test_a_footnote_is_written_once() -> None:
    notes = Notes()
    assert [notes.mark("a"), notes.mark("b"), notes.missing("a")] == ["[1]", "[2]", "– [1]"]
    assert notes.markdown() == ["", "- [1] a", "- [2] b"]
    assert Notes().markdown() == []


def test_a_null_is_shown_with_its_reason_and_never_as_a_blank() -> None:
    notes = Notes()
    assert notes.show(None, plain, "too_few_seeds") == "– [1]"
    assert notes.show(0.0, plain, None) == "0"
    assert notes.sentences == ["too few complete seeds for this statistic"]


def test_tables_line_up_and_escape_their_bars() -> None:
    lines = markdown_table(["name", "x"], [["a|b", "1"], ["c", "-12.5"]])
    assert lines == ["| name |     x |", "| ---- | ----: |", "| a\\|b |     1 |", "| c    | -12.5 |"]
    assert text_table(["name", "x"], [["c", "-12.5"]], indent="") == ["name      x", "c     -12.5"]
    assert max(map(len, fold("many words " * 30, 40, "  ", "    "))) <= 40
