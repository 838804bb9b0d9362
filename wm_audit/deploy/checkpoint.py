"""Checkpoints: safetensors for numbers, JSON for what they mean. Nothing is ever unpickled.

FOLDER/weights.safetensors      every weight; a quantised matrix as NAME.int8 and NAME.scale
FOLDER/model.json               {"schema", "architecture", "config", "weights_sha256", "sha256"}, the last over the text of the others
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from wm_audit.core import AuditError, strict_json
from wm_audit.core.files import write_atomic
from wm_audit.deploy.int8 import Int8Matrix, int8_product
from wm_audit.models.dreamer_lite import Config, DreamerLite
from wm_audit.models.dreamer_lite.cell import dense
from wm_audit.models.dreamer_lite.layout import layout

SCHEMA = "wm_audit/checkpoint/1"
ARCHITECTURE = "dreamer_lite"
WEIGHTS, META = "weights.safetensors", "model.json"
_AGAIN = "train it again or restore the folder"


class Kind(NamedTuple):
    """What a tensor is: its type, None for a tensor that is not there, and its shape."""

    dtype: torch.dtype | None
    shape: tuple[int, ...]

    def said(self) -> str:
        """For a sentence."""
        return "absent" if self.dtype is None else f"{str(self.dtype).removeprefix('torch.')} {self.shape}"


ABSENT = Kind(None, ())


def save_model(folder: Path, model: DreamerLite) -> int:
    """Writes a checkpoint, weights first, and returns the size of the weight file in bytes.

    Raises:
        AuditError: the place cannot be written.
    """
    tensors: dict[str, Tensor] = {"centre": model.centre.contiguous()}
    for name, item in model.weights.items():
        if isinstance(item, Int8Matrix):
            tensors |= {f"{name}.int8": item.values.contiguous(), f"{name}.scale": item.scale.contiguous()}
        else:
            tensors[name] = item.contiguous()
    weights = save(tensors)
    write_atomic(folder / WEIGHTS, weights)
    entry = {"schema": SCHEMA, "architecture": ARCHITECTURE, "config": asdict(model.config), "weights_sha256": _sha256(weights)}
    write_atomic(folder / META, strict_json.dumps(entry | {"sha256": _text_sha256(entry)}))
    return len(weights)


def load_model(folder: Path) -> DreamerLite:
    """Reads a checkpoint and proves it whole.

    Raises:
        AuditError: missing, torn or changed files, another architecture, or weights of other names or shapes.
    """
    entry = _entry(folder / META)
    path = folder / WEIGHTS
    try:
        data = path.read_bytes()
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise AuditError(what, where=str(path), expected="the weights that model.json names", fix=_AGAIN) from error
    if _sha256(data) != entry.get("weights_sha256"):
        raise AuditError(f"was changed ({_sha256(data)})", where=str(path), expected=str(entry.get("weights_sha256")), fix=_AGAIN)
    try:
        config = Config(**_tuples(entry["config"]))
        tensors = load(data)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise AuditError(f"cannot be read ({error})", where=str(folder), expected="a checkpoint of this version", fix=_AGAIN) from error
    return _model(config, tensors, folder)


def _entry(meta: Path) -> dict[str, Any]:
    """What model.json says, proved unchanged."""
    entry = strict_json.load(meta)
    if not isinstance(entry, dict) or (entry.get("schema"), entry.get("architecture")) != (SCHEMA, ARCHITECTURE):
        found = (entry.get("schema"), entry.get("architecture")) if isinstance(entry, dict) else type(entry).__name__
        raise AuditError(f"is a checkpoint of another kind ({found})", where=str(meta), expected=f"{SCHEMA}, {ARCHITECTURE}", fix=_AGAIN)
    stated = entry.pop("sha256", None)
    if (found := _text_sha256(entry)) != stated:
        raise AuditError(f"was changed ({found})", where=str(meta), expected=str(stated), fix=_AGAIN)
    return entry


def _model(config: Config, tensors: dict[str, Tensor], folder: Path) -> DreamerLite:
    """The model, once every number that it needs is there in its type and shape, and none besides."""
    found = {name: Kind(item.dtype, tuple(item.shape)) for name, item in tensors.items()}
    small = {item.name for item in layout(config) if item.is_matrix and f"{item.name}.int8" in found}
    wanted = _wanted(config, small, found)
    for name in sorted(wanted.keys() | found.keys()):
        if found.get(name, ABSENT) != wanted.get(name, ABSENT):
            what = f"{name} is {found.get(name, ABSENT).said()}"
            raise AuditError(what, where=str(folder), expected=wanted.get(name, ABSENT).said(), fix=_AGAIN)
    weights = {
        item.name: Int8Matrix.stored(tensors[f"{item.name}.int8"], tensors[f"{item.name}.scale"])
        if item.name in small
        else tensors[item.name]
        for item in layout(config)
    }
    return DreamerLite(config, weights, tensors["centre"], int8_product if small else dense)


def _wanted(config: Config, small: set[str], found: Mapping[str, Kind]) -> dict[str, Kind]:
    """What the file of this model holds; K is read off one of its vectors."""
    members = max((1, *found.get("reward.variance_b", ABSENT).shape[:1]))
    wanted = {"centre": Kind(torch.float32, (config.patches, config.values))}
    for item in layout(config):
        if item.name in small:
            wanted[f"{item.name}.int8"] = Kind(torch.int8, (members, *item.shape))
            wanted[f"{item.name}.scale"] = Kind(torch.float32, (members, 1, item.shape[-1]))
        else:
            wanted[item.name] = Kind(torch.float32, (members, *item.shape))
    return wanted


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _text_sha256(entry: Mapping[str, Any]) -> str:
    return _sha256(strict_json.dumps(entry).encode("utf-8", "surrogatepass"))  # a lone surrogate is a wrong file, not a crash


def _tuples(config: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(item) if isinstance(item, list) else item for name, item in dict(config).items()}
