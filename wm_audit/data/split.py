"""Which episodes train the model, which probe it, and which are held out."""

from collections.abc import Mapping

import numpy as np

from wm_audit.core import AuditError, stream
from wm_audit.data.episode import Episodes, Ints
from wm_audit.data.shares import apportion

SPLITS = ("train", "probe", "held_out")


def split_episodes(episodes: Episodes, fractions: Mapping[str, float], root: int, seed: int, env_id: str) -> dict[str, Ints]:
    """Divides whole episodes at random, separately inside each behaviour, so that every split holds every behaviour.

    Counts are largest remainders of the fractions; a split that would get no episode of a behaviour takes one from the
    largest. The order comes from `stream(root, "split", env id, seed, behaviour)`.

    Returns:
        For train, probe and held_out the ascending episode ids.

    Raises:
        AuditError: other names than the three, fractions that do not sum to 1, or a behaviour with fewer than three episodes.
    """
    if set(fractions) != set(SPLITS):
        raise AuditError(f"names {sorted(fractions)}", where="split.fractions", expected=f"exactly {sorted(SPLITS)}")
    parts: dict[str, list[Ints]] = {name: [] for name in SPLITS}
    for index, behaviour in enumerate(episodes.behaviours):
        ids = np.flatnonzero(episodes.behaviour == index)
        if ids.size < len(SPLITS):
            raise AuditError(
                f"behaviour {behaviour!r} has {ids.size} episodes",
                where="split",
                expected=f"at least {len(SPLITS)}, one per split",
                fix="raise the steps or the behaviour's share",
            )
        shuffled = ids[stream(root, "split", env_id, seed, behaviour).permutation(ids.size)]
        first = 0
        for name, count in _counts(ids.size, fractions).items():
            parts[name].append(shuffled[first : first + count])
            first += count
    return {name: np.sort(np.concatenate(part)).astype(np.int64) for name, part in parts.items()}


def _counts(total: int, fractions: Mapping[str, float]) -> dict[str, int]:
    counts = apportion(total, {name: fractions[name] for name in SPLITS})
    for name in SPLITS:
        if counts[name] == 0:
            counts[max(SPLITS, key=lambda other: counts[other])] -= 1
            counts[name] = 1
    return counts
