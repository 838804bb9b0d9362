"""Worlds to learn and to act in. A new one is one factory and one line in `ENVS`; the contract tests find it.

A factory takes the settings as keywords, refuses unknown names and bad values with an `AuditError`, and
states all of them, defaults included, in `spec.settings`: `make(spec.id, spec.settings)` builds the same world.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from wm_audit.core import AuditError
from wm_audit.envs.checks import known
from wm_audit.envs.pixel_nav import OPEN, TWO_ROOMS, PixelNav
from wm_audit.envs.protocol import Bools, Env, EnvSpec, Floats, Images, Oracle, Outcome, Step

__all__ = ["ENVS", "Bools", "Env", "EnvSpec", "Floats", "Images", "Oracle", "Outcome", "Step", "expand_id", "make"]

ENVS: dict[str, Callable[..., Oracle]] = {
    "pixel_nav": partial(PixelNav, OPEN),
    "two_room": partial(PixelNav, TWO_ROOMS),
}


def expand_id(short: str) -> str:
    """The full id: an id itself, or the beginning of exactly one id or of its part after the last dot.

    Raises:
        AuditError: no environment or several answer to this name.
    """
    if short in ENVS:
        return short
    parts = {name: name.rsplit(".", maxsplit=1)[-1] for name in ENVS}
    whole = [name for name in ENVS if parts[name] == short]
    begun = [name for name in ENVS if short and (name.startswith(short) or parts[name].startswith(short))]
    matches = whole or begun
    if len(matches) > 1:
        raise AuditError(f"{short!r} is short for several environments", where="environment", expected=f"one of {', '.join(matches)}")
    return matches[0] if matches else known(short, ENVS, what="environment", where="environment")


def make(id: str, settings: Mapping[str, Any]) -> Oracle:  # noqa: A002 - the word of the configuration file
    """The world called `id` (a unique short form is enough) with these settings; what is not named has its default.

    Raises:
        AuditError: unknown environment, unknown setting, or a value the setting does not take.
    """
    name = expand_id(id)
    for key in settings:
        if not isinstance(key, str):
            raise AuditError(f"found the setting {key!r}", where=name, expected="names of settings as text")
    return ENVS[name](**settings)
