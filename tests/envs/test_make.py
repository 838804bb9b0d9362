from decimal import Decimal
from functools import partial

import pytest

import wm_audit.envs
from wm_audit.core import AuditError
from wm_audit.envs import ENVS, expand_id, make
from wm_audit.envs.pixel_nav import OPEN, PixelNav


@pytest.mark.parametrize(("short", "full"), [("pixel", "pixel_nav"), ("two", "two_room"), ("two_room", "two_room")])
def test_a_unique_beginning_is_enough(short: str, full: str) -> None:
    assert expand_id(short) == full
    assert make(short, {}).spec.id == full


def test_dotted_ids_answer_to_their_last_part(monkeypatch: pytest.MonkeyPatch) -> None:
    factory = partial(PixelNav, OPEN)
    monkeypatch.setattr(wm_audit.envs, "ENVS", dict.fromkeys(("suite.reacher_easy", "suite.reacher_hard", "reach"), factory))
    assert expand_id("reacher_easy") == "suite.reacher_easy"
    assert expand_id("suite.reacher_h") == "suite.reacher_hard"
    assert expand_id("reach") == "reach"  # an exact name is never ambiguous
    with pytest.raises(AuditError, match=r"short for several environments; expected one of suite.reacher_easy, suite.reacher_hard"):
        expand_id("reacher")


@pytest.mark.parametrize("wrong", ["", "pixelnav", "_nav", "PIXEL_NAV"])
def test_unknown_environments_are_refused_with_the_nearest(wrong: str) -> None:
    with pytest.raises(AuditError) as caught:
        make(wrong, {})
    line = str(caught.value)
    assert repr(wrong) in line
    assert all(name in line for name in ENVS)
    assert "\n" not in line
    if wrong:
        assert "did you mean 'pixel_nav'?" in line


def test_a_misspelt_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(AuditError, match=r"unknown setting 'distracter'.*did you mean 'distractor'"):
        make("pixel_nav", {"distracter": "none"})
    with pytest.raises(AuditError, match=r"pixel_nav.distractor: unknown value 'drfit'.*did you mean 'drift'"):
        make("pixel_nav", {"distractor": "drfit"})
    for inner in ("layout", "self", "settings"):
        with pytest.raises(AuditError, match="unknown setting"):
            make("pixel_nav", {inner: 1})
    with pytest.raises(AuditError, match="names of settings as text"):
        make("pixel_nav", {1: 2})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("image", 48),
        ("image", 32.0),
        ("image", True),
        ("image", "32"),
        ("limit", 0),
        ("limit", 50.0),
        ("limit", True),
        ("reward", True),
        ("drag", 1.0),
        ("drag", True),
        ("drag", float("nan")),
        ("gain", 0),
        ("gain", "0.01"),
        ("wind", float("inf")),
        ("wind", Decimal("NaN")),
        ("goal_radius", 0.5),
    ],
)
def test_bad_values_are_refused_where_they_stand(setting: str, value: object) -> None:
    with pytest.raises(AuditError, match=f"two_room.{setting}") as caught:
        make("two_room", {setting: value})
    assert caught.value.expected


def test_decimals_and_whole_numbers_are_numbers() -> None:
    settings = make("pixel_nav", {"gain": Decimal("0.02"), "wind": 0, "drag": Decimal("0.5")}).spec.settings
    assert (settings["gain"], settings["wind"], settings["drag"]) == (0.02, 0.0, 0.5)
    assert all(type(settings[name]) is float for name in ("gain", "wind", "drag"))


def test_defaults() -> None:
    spec = make("pixel_nav", {}).spec
    assert (spec.image, spec.limit, spec.reward, spec.distractor, spec.cue) == ((3, 32, 32), 50, "dense", "drift", "dot")
    assert spec.settings["terminal"] == "none"
    assert spec.renderer == "pixel_nav/1"
