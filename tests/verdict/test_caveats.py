import pytest

from wm_audit.core import Reason
from wm_audit.verdict.caveats import null_member, sentence


@pytest.mark.parametrize(
    ("caveat", "words"),
    [
        ("control_failed:oracle", "the control oracle did not give its known answer"),
        ("null_member:rollout_fvd:feature_weights_missing:6", "rollout_fvd is missing in 6 of the planned cells: the weight file of this"),
        ("incomplete_seeds:2", "2 planned seeds are incomplete"),
        ("incomplete_seeds:1", "1 planned seed is incomplete"),
        ("constant_capacity:64x32", "nothing varies at capacity 64x32"),
        ("too_few_seeds", Reason.TOO_FEW_SEEDS.sentence),
        ("below_noise_floor", "every change is smaller than the evaluation noise"),
        ("row_missing", "the row is missing"),
    ],
)
def test_codes_become_sentences(caveat: str, words: str) -> None:
    assert sentence(caveat).startswith(words)


def test_an_unknown_code_stays_readable() -> None:
    assert sentence("something_new:x") == "something_new:x"


def test_every_reason_has_a_sentence() -> None:
    for reason in Reason:
        assert sentence(reason.value) != reason.value


def test_a_null_member_gives_its_most_frequent_reason_and_all_its_gaps() -> None:
    assert null_member("tau", {"a": 1, "probe_degenerate": 3}) == "null_member:tau:probe_degenerate:4"
