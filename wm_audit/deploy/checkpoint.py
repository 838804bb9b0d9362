"""Checkpoints: safetensors for numbers, JSON for what they mean. Nothing is ever unpickled.

FOLDER/weights.safetensors      every weight; a quantised matrix as NAME.int8 and NAME.scale
FOLDER/model.json               {"schema", "architecture", "config", "weights_sha256"}
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from wm_audit.core import AuditError, strict_json
from wm_audit.core.files import sha256_file, write_atomic
from wm_audit.deploy.int8 import Int8Matrix, int8_product
from wm_audit.models.dreamer_lite import Config, DreamerLite
from wm_audit.models.dreamer_lite.cell import dense
from wm_audit.models.dreamer_lite.layout import layout

SCHEMA = "wm_audit/checkpoint/1"
ARCHITECTURE = "dreamer_lite"
_AGAIN = "train it again or restore the folder"


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
    path = folder / "weights.safetensors"
    write_atomic(path, save(tensors))
    entry = {"schema": SCHEMA, "architecture": ARCHITECTURE, "config": asdict(model.config), "weights_sha256": sha256_file(path)}
    write_atomic(folder / "model.json", strict_json.dumps(entry))
    return path.stat().st_size


def load_model(folder: Path) -> DreamerLite:
    """Reads a checkpoint and proves it whole.

    Raises:
        AuditError: missing, torn or changed files, another architecture, or weights of other names or shapes.
    """
    meta = folder / "model.json"
    entry = strict_json.load(meta)
    if not isinstance(entry, dict) or (entry.get("schema"), entry.get("architecture")) != (SCHEMA, ARCHITECTURE):
        found = (entry.get("schema"), entry.get("architecture")) if isinstance(entry, dict) else type(entry).__name__
        raise AuditError(f"is a checkpoint of another kind ({found})", where=str(meta), expected=f"{SCHEMA}, {ARCHITECTURE}", fix=_AGAIN)
    path = folder / "weights.safetensors"
    if not path.is_file():
        raise AuditError("is missing", where=str(path), expected="the weights that model.json names", fix=_AGAIN)
    if (found_digest := sha256_file(path)) != entry.get("weights_sha256"):
        raise AuditError(f"was changed ({found_digest})", where=str(path), expected=str(entry.get("weights_sha256")), fix=_AGAIN)
    try:
        config = Config(**_tuples(entry["config"]))
        tensors = load(path.read_bytes())
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise AuditError(f"cannot be read ({error})", where=str(folder), expected="a checkpoint of this version", fix=_AGAIN) from error
    return _model(config, tensors, folder)


def _model(config: Config, tensors: dict[str, Tensor], folder: Path) -> DreamerLite:
    weights: dict[str, Any] = {}
    for item in layout(config):
        whole, small = tensors.get(item.name), tensors.get(f"{item.name}.int8")
        found = whole if whole is not None else small
        if found is None or tuple(found.shape[1:]) != item.shape:
            shape = None if found is None else tuple(found.shape[1:])
            raise AuditError(f"{item.name} has shape {shape}", where=str(folder), expected=f"{item.shape}", fix=_AGAIN)
        weights[item.name] = found if small is None else Int8Matrix.stored(small, tensors[f"{item.name}.scale"])
    quantised = any(isinstance(item, Int8Matrix) for item in weights.values())
    return DreamerLite(config, weights, tensors["centre"], int8_product if quantised else dense)


def _tuples(config: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(item) if isinstance(item, list) else item for name, item in config.items()}
