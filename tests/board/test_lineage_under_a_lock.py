"""A claim that rests on a lock is not waved through where nothing says that the lock came first."""

from pathlib import Path

import pytest

from wm_audit.board import results
from wm_audit.board.verification.check import State
from wm_audit.board.verification.lineage import lineage
from wm_audit.board.verification.subject import Subject
from wm_audit.core import strict_json

PILOT = Path(__file__).resolve().parents[2] / "leaderboard" / "results_pixel_nav_pilot.json"


@pytest.mark.parametrize(
    ("claim", "state"),
    [("exploratory", State.PASS), ("confirmatory", State.CANNOT_CHECK), ("confirmatory_with_deviations", State.CANNOT_CHECK)],
)
def test_a_claim_without_a_commit_of_its_lock_cannot_be_checked(claim: str, state: State) -> None:
    document = results.read(PILOT) | {"claim": claim}
    found = lineage(Subject(PILOT, strict_json.dumps(document), document, None), None)
    assert found.state is state
