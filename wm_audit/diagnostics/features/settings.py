"""The locked settings of the learned features."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from wm_audit.core import AuditError


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """What a learned feature's number depends on besides its weights; read from `Parameters.features`.

    Attributes:
        lpips_frames: predicted frames that are compared, spread over all segments and steps.
        lpips_batch: images embedded together; a short batch is padded to it.
        fvd_clips: real and predicted clips, the first ones of the probe.
        fvd_context: context frames in front of the predicted ones in a clip.
        fvd_length: frames of a clip at most, context included; a shorter horizon gives shorter clips.
        fvd_components: principal components of the real clips' descriptions; more clips than this are needed.
        filter_seeds: random filter banks averaged in `fixed_filters`.
    """

    lpips_frames: int = 64
    lpips_batch: int = 16
    fvd_clips: int = 32
    fvd_context: int = 1
    fvd_length: int = 16
    fvd_components: int = 16
    filter_seeds: int = 5

    def __post_init__(self) -> None:
        """Refuses settings under which no number is defined."""
        for item in fields(self):
            value, least = getattr(self, item.name), 0 if item.name == "fvd_context" else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise AuditError(
                    f"is {value!r}", where=f"diagnostics feature setting {item.name}", expected=f"an integer of at least {least}"
                )
        if self.fvd_length <= self.fvd_context:
            raise AuditError(
                f"is {self.fvd_length}",
                where="diagnostics feature setting fvd_length",
                expected=f"more than fvd_context, {self.fvd_context}",
                fix="a clip needs at least one predicted frame",
            )

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "FeatureSettings":
        """The settings a configuration names; what it leaves out keeps its default.

        Raises:
            AuditError: a name that is no setting, or a value out of range.
        """
        known = [item.name for item in fields(cls)]
        unknown = sorted(set(entry) - set(known))
        if unknown:
            raise AuditError(f"{unknown[0]!r} is no setting", where="diagnostics features", expected=f"one of {', '.join(known)}")
        return cls(**entry)
