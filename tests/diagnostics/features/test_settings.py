"""A setting that is misspelt or impossible is refused before anything is measured."""

from typing import Any

import pytest

from wm_audit.core import AuditError
from wm_audit.diagnostics.features.settings import FeatureSettings


def test_what_is_left_out_keeps_its_default() -> None:
    assert FeatureSettings.read({}) == FeatureSettings()
    assert FeatureSettings.read({"fvd_clips": 8, "fvd_components": 4}).fvd_clips == 8


@pytest.mark.parametrize(
    "entry",
    [{"fvd_clip": 8}, {"lpips_frames": 0}, {"lpips_batch": -1}, {"fvd_components": True}, {"filter_seeds": 2.0}, {"fvd_length": 1}],
    ids=str,
)
def test_impossible_settings_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(AuditError) as caught:
        FeatureSettings.read(entry)
    assert next(iter(entry)) in caught.value.line()


def test_a_clip_may_have_no_context() -> None:
    assert FeatureSettings.read({"fvd_context": 0, "fvd_length": 1}).fvd_context == 0
