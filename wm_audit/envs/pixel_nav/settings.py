"""Everything a person may choose about the built-in world."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from wm_audit.core import AuditError
from wm_audit.envs.checks import choice, known, number, whole

IMAGES = (16, 32, 64)
REWARDS = ("dense", "sparse")
DISTRACTORS = ("none", "drift")
CUES = ("none", "dot")
TERMINALS = ("none", "goal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One choice each; lengths in arena sides, speeds in arena sides a step.

    Attributes:
        image: side of the square picture in pixels: 16, 32 or 64.
        limit: steps per episode.
        reward: "dense" (nearness of the paying goal) or "sparse" (1 inside it).
        distractor: "drift" (a moving colour pattern behind everything) or "none".
        cue: "dot" (two equal goals, a dot's colour says which pays) or "none" (one goal).
        terminal: "goal" ends the episode in the paying goal, with reward 1; "none" never ends it.
        drag: share of the velocity that survives a step.
        gain: velocity that a full action adds; the full speed is gain / (1 - drag).
        wind: how far the agent is pushed to the right in every step.
        goal_radius: radius of the goal discs.
    """

    image: int = 32
    limit: int = 50
    reward: str = "dense"
    distractor: str = "drift"
    cue: str = "dot"
    terminal: str = "none"
    drag: float = 0.8
    gain: float = 0.01
    wind: float = 0.0
    goal_radius: float = 0.1

    @classmethod
    def of(cls, table: Mapping[str, Any], *, where: str) -> Self:
        """Reads a settings table strictly.

        Raises:
            AuditError: an unknown name, or a value out of range or of the wrong type.
        """
        names = list(cls.__dataclass_fields__)
        for name in table:
            known(name, names, what="setting", where=where)
        chosen = {**asdict(cls()), **table}
        image = chosen["image"]
        if type(image) is not int or image not in IMAGES:
            raise AuditError(f"found {image!r}", where=f"{where}.image", expected="16, 32 or 64")
        return cls(
            image=image,
            limit=whole(chosen["limit"], low=1, high=1_000_000, where=f"{where}.limit"),
            reward=choice(chosen["reward"], REWARDS, where=f"{where}.reward"),
            distractor=choice(chosen["distractor"], DISTRACTORS, where=f"{where}.distractor"),
            cue=choice(chosen["cue"], CUES, where=f"{where}.cue"),
            terminal=choice(chosen["terminal"], TERMINALS, where=f"{where}.terminal"),
            drag=number(chosen["drag"], low=0.0, high=0.99, where=f"{where}.drag"),
            gain=number(chosen["gain"], low=0.0001, high=1.0, where=f"{where}.gain"),
            wind=number(chosen["wind"], low=-1.0, high=1.0, where=f"{where}.wind"),
            goal_radius=number(chosen["goal_radius"], low=0.03, high=0.12, where=f"{where}.goal_radius"),
        )
