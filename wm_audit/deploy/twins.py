"""Compressed twins of a float model, under the same key. A new lever is one function and one line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from wm_audit.core import AuditError
from wm_audit.deploy.int8 import ENGINE, Int8Matrix, int8_product, quantise, quantised_share
from wm_audit.models.dreamer_lite import DreamerLite
from wm_audit.models.dreamer_lite.cell import dense


@dataclass(frozen=True, slots=True)
class Twin:
    """A compressed model and what was done to it.

    Attributes:
        model: predicts through the same code as its float.
        engine: what multiplies its matrices.
        share: per path, the share of its numbers that is compressed.
    """

    model: DreamerLite
    engine: str
    share: Mapping[str, float]


def copy(model: DreamerLite) -> Twin:
    """The null lever: a float copy through the same code, which must change nothing."""
    weights = {name: item.clone() for name, item in model.weights.items()}
    return Twin(model.reweighted(weights, dense), "float32", dict.fromkeys(_paths(weights), 0.0))


def int8(model: DreamerLite) -> Twin:
    """Every linear and recurrent weight in int8, activations per row."""
    weights = quantise(model.weights)
    return Twin(model.reweighted(weights, int8_product), ENGINE, quantised_share(weights))


LEVERS: dict[str, Callable[[DreamerLite], Twin]] = {
    "copy": copy,
    "int8": int8,
}
NULL_LEVER = "copy"


def compress(model: DreamerLite, lever: str) -> Twin:
    """Applies a lever.

    Raises:
        AuditError: the lever is unknown, the model is compressed already, or the lever is not the null one and changed no weight.
    """
    if lever not in LEVERS:
        raise AuditError(f"{lever!r} is no lever", where="levers", expected=", ".join(LEVERS), fix="correct the configuration")
    if any(isinstance(item, Int8Matrix) for item in model.weights.values()):
        raise AuditError("is compressed already", where="the model", expected="a float model", fix="compress the model it came from")
    twin = LEVERS[lever](model)
    if lever != NULL_LEVER and not _changed(model.weights, twin.model.weights):
        raise AuditError("changed no weight", where=f"lever {lever}", expected="a compressed model", fix="remove the lever")
    return twin


def _paths(weights: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(name.split(".")[0] for name in weights))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    def value(item: Any) -> Tensor:
        return item.dequantised if isinstance(item, Int8Matrix) else item

    return any(not torch.equal(value(before[name]), value(after[name])) for name in before)
