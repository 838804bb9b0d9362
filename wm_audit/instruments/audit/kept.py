"""A trained model kept between cells and runs: a checkpoint, and beside it what it was made for and what its training reported.

FOLDER/model.json, weights.safetensors     the checkpoint (`wm_audit.deploy`)
FOLDER/training.json                       {"schema", "made_for", "model", "training", "sha256"}; "model" is the sha256 of model.json,
                                           which names the weights by theirs. Written last: without it the folder holds no model yet.
"""

from pathlib import Path
from typing import Any

from wm_audit.core import AuditError, strict_json
from wm_audit.core.files import sha256_file, write_atomic
from wm_audit.core.made_for import Purpose, require_same
from wm_audit.core.record import seal, sealed
from wm_audit.deploy import load_model, save_model
from wm_audit.models.dreamer_lite import DreamerLite

SCHEMA = "wm_audit/trained/1"
FILE, _META = "training.json", "model.json"
_MEMBERS = ("schema", "made_for", "model", "training", "sha256")
_AGAIN = "delete its folder: --resume trains the model again"


def stands(folder: Path) -> bool:
    """Whether a finished model lies there."""
    return (folder / FILE).is_file()


def write(folder: Path, model: DreamerLite, training: dict[str, Any], made_for: Purpose) -> None:
    """Keeps a model.

    Args:
        folder: its own.
        model: finished.
        training: what its training reported, in JSON types.
        made_for: what it answers to, for `read` to compare.

    Raises:
        AuditError: the place cannot be written.
    """
    save_model(folder, model)
    values = (SCHEMA, dict(made_for), sha256_file(folder / _META), training)
    write_atomic(folder / FILE, strict_json.dumps(seal(dict(zip(_MEMBERS[:-1], values, strict=True)))))


def read(folder: Path, made_for: Purpose) -> tuple[DreamerLite, dict[str, Any]]:
    """The model and its training's report, proved whole, of one piece, and made for what is asked.

    Raises:
        AuditError: torn, changed or exchanged files, or a model that was made for something else.
    """
    path = folder / FILE
    entry = strict_json.load(path)
    if not isinstance(entry, dict) or tuple(entry) != _MEMBERS or entry["schema"] != SCHEMA or not sealed(entry):
        raise AuditError("was changed after it was written", where=str(path), expected=f"{SCHEMA} with a valid sha256", fix=_AGAIN)
    require_same(entry["made_for"], made_for, where=str(path), fix=_AGAIN)
    model, meta = load_model(folder), folder / _META
    if (found := sha256_file(meta)) != entry["model"]:
        raise AuditError(f"is another model's ({found})", where=str(meta), expected=str(entry["model"]), fix=_AGAIN)
    return model, entry["training"]
