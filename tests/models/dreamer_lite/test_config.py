"""A configuration is refused where it could not be built, and counts what it builds."""

from collections.abc import Callable
from typing import Any

import pytest

from wm_audit.models.dreamer_lite import Config


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"image": (3, 18, 16)}, "18x16"),
        ({"image": (3, 16, 20)}, "16x20"),
        ({"image": (0, 16, 16)}, "0x16"),
        ({"image": (3, 0, 16)}, "0x16"),
        ({"image": (3, 16)}, "values to unpack"),
        ({"patch": 0}, "patch"),
        ({"patch": -8}, "patch"),
        ({"hidden": 0}, "hidden"),
        ({"hidden": 8.0}, "hidden"),
        ({"embed": "8"}, "embed"),
        ({"stoch": 0}, "stoch"),
        ({"width": 0}, "width"),
        ({"actions": 0}, "actions"),
        ({"variance": "picture"}, "variance"),
        ({"log_variance": (0.0, -8.0)}, "log_variance"),
        ({"log_variance": (float("nan"), 0.0)}, "log_variance"),
        ({"log_variance": (-8.0, float("inf"))}, "log_variance"),
        ({"min_std": -0.1}, "min_std"),
        ({"free_nats": float("nan")}, "free_nats"),
        ({"kl_dynamics": -1.0}, "kl_dynamics"),
        ({"reward_scale": float("inf")}, "reward_scale"),
        ({"variance_beta": -1}, "variance_beta"),
    ],
)
def test_what_cannot_be_built_is_named(changes: dict[str, Any], named: str, make_config: Callable[..., Config]) -> None:
    with pytest.raises(ValueError, match=named):
        make_config(**changes)


def test_sizes_follow_from_the_picture(make_config: Callable[..., Config]) -> None:
    config = make_config(image=(3, 32, 16), patch=4, hidden=10, stoch=6)
    assert (config.patches, config.values, config.features) == (32, 48, 16)
    assert config.patches * config.values == 3 * 32 * 16
