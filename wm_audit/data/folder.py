"""A folder of arrays with a manifest, which appears whole or not at all and notices every change.

Everything is written into a hidden temporary folder beside the destination, the manifest last, and the folder is then
renamed into place: a writer that is killed leaves a temporary that nothing reads. The arrays are ordinary .npy files;
they are read by the manifest instead of by their own headers, whose bytes must be those that were written.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, strict_json
from wm_audit.core.errors import why
from wm_audit.core.files import write_atomic

Array = NDArray[np.generic]
MANIFEST = "manifest.json"
_FIX = "delete the folder and build it again"


def checksum(array: Array) -> str:
    """`sha256:` over the bytes of an array in C order."""
    return "sha256:" + hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def temporaries(path: Path) -> list[Path]:
    """What killed writers of `path` left behind."""
    return sorted(path.parent.glob(f".{path.name}.*.partial"))


def write_folder(path: Path, arrays: Mapping[str, Array], checksums: Mapping[str, str], header: Mapping[str, Any]) -> None:
    """Writes `arrays` as NAME.npy and `header` plus a table of the arrays as the manifest.

    Raises:
        AuditError: `path` exists already or cannot be written; nothing is left behind.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
        table = {name: _write_array(temporary / f"{name}.npy", array) | {"sha256": checksums[name]} for name, array in arrays.items()}
        manifest = {**header, "arrays": table}
        write_atomic(temporary / MANIFEST, strict_json.dumps({**manifest, "sha256": _seal(manifest)}))
        temporary.chmod(0o755)
        temporary.rename(path)
        _sync(path.parent)
    except OSError as error:
        raise AuditError(
            f"cannot be written ({why(error)})", where=str(path), expected="a new folder in a writable place", fix="choose another path"
        ) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def read_folder(path: Path, *, schema: str, verify: bool) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays, memory-mapped and read-only, and the manifest. File sizes and .npy headers are always checked.

    Args:
        path: the folder.
        schema: what `manifest["schema"]` must be.
        verify: also check the sha256 of every array, which reads all of it.

    Raises:
        AuditError: a file is missing, torn or changed; the message names it.
    """
    where = path / MANIFEST
    manifest = strict_json.load(where)
    if not isinstance(manifest, dict) or manifest.get("schema") != schema:
        raise AuditError("is not a manifest of this kind", where=str(where), expected=f"schema {schema}", fix=_FIX)
    sealed = {name: item for name, item in manifest.items() if name != "sha256"}
    as_written = strict_json.dumps({**sealed, "sha256": _seal(sealed)})
    if where.read_bytes() != as_written.encode("utf-8"):
        raise AuditError("has been changed since it was written", where=str(where), expected="the manifest as written", fix=_FIX)
    arrays = {name: _read_array(path / f"{name}.npy", entry, verify=verify) for name, entry in manifest["arrays"].items()}
    return arrays, manifest


def _write_array(file: Path, array: Array) -> dict[str, Any]:
    with file.open("wb") as handle:
        np.save(handle, np.ascontiguousarray(array), allow_pickle=False)
        handle.flush()
        os.fsync(handle.fileno())
    size = file.stat().st_size
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "bytes": size,
        "header_sha256": _head_digest(file, size - array.nbytes),
    }


def _read_array(file: Path, entry: Mapping[str, Any], *, verify: bool) -> Array:
    try:
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise AuditError(f"is torn: it has {size} bytes", where=str(file), expected=f"{entry['bytes']} bytes", fix=_FIX)
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        offset = size - dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if _head_digest(file, offset) != entry["header_sha256"]:
            raise AuditError("has a changed header", where=str(file), expected="the file as written", fix=_FIX)
        array: Array = np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape).view(np.ndarray)
    except OSError as error:
        raise AuditError(f"cannot be read ({why(error)})", where=str(file), expected="a readable file", fix=_FIX) from error
    if verify and checksum(array) != entry["sha256"]:
        raise AuditError("has been changed since it was written", where=str(file), expected=entry["sha256"], fix=_FIX)
    return array


def _head_digest(file: Path, size: int) -> str:
    with file.open("rb") as handle:
        return "sha256:" + hashlib.sha256(handle.read(size)).hexdigest()


def _seal(manifest: Mapping[str, Any]) -> str:
    """`sha256:` over the text form of the manifest without its own seal."""
    return "sha256:" + hashlib.sha256(strict_json.dumps(manifest).encode("utf-8")).hexdigest()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
