"""One data set per environment and seed: episodes, their split, and one digest over all of it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wm_audit.core import AuditError
from wm_audit.core.made_for import Purpose, require_same
from wm_audit.data.episode import LAYOUT, Episodes, Ints
from wm_audit.data.folder import MANIFEST, Array, checksum, read_folder, write_folder
from wm_audit.data.split import SPLITS, split_episodes
from wm_audit.envs.protocol import EnvSpec

SCHEMA = "wm_audit/dataset/1"
_AGAIN = "delete the folder and build it again"


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """What models are trained and judged on. The arrays are read-only.

    Attributes:
        episodes: everything recorded.
        split: "train", "probe", "held_out" -> ascending episode ids, disjoint, together all episodes.
        env: the world that was recorded.
        collection: root, seed and fractions, as JSON types.
        checksums: sha256 of every array by its name in the folder.
        digest: `sha256:` over the arrays (dtype, shape, bytes), the split, the behaviours, the collection and the env settings.
    """

    episodes: Episodes
    split: dict[str, Ints]
    env: EnvSpec
    collection: dict[str, Any]
    checksums: dict[str, str]
    digest: str

    def save(self, path: Path, made_for: Purpose | None = None) -> None:
        """Writes a folder of .npy files and manifest.json that appears whole or not at all.

        Args:
            path: the folder.
            made_for: what the data set answers to, for `load` to compare.

        Raises:
            AuditError: `path` exists already or cannot be written.
        """
        described = _described(self.episodes.behaviours, self.env, self.collection)
        header = {"schema": SCHEMA, "digest": self.digest, "made_for": dict(made_for or {}), **described}
        write_folder(path, _arrays(self.episodes, self.split), self.checksums, header)


def assemble(episodes: Episodes, env: EnvSpec, fractions: Mapping[str, float], root: int, seed: int) -> Dataset:
    """Splits recorded episodes and seals them; their arrays become read-only.

    Args:
        episodes: what `collect` returned for the same env, root and seed.
        env: the spec of the recorded world.
        fractions: of the episodes that go to "train", "probe" and "held_out", summing to 1.
        root: the experiment's root seed.
        seed: of this data set.

    Raises:
        AuditError: as `split_episodes`.
    """
    split = split_episodes(episodes, fractions, root, seed, env.id)
    collection = {"root": root, "seed": seed, "fractions": {name: float(fractions[name]) for name in SPLITS}}
    arrays = _arrays(episodes, split)
    for array in arrays.values():
        array.setflags(write=False)
    checksums = {name: checksum(array) for name, array in arrays.items()}
    described = _described(episodes.behaviours, env, collection)
    return Dataset(episodes, split, _spec(described["env"]), collection, checksums, _digest(arrays, checksums, described))


def load(path: Path, *, verify: bool = False, made_for: Purpose | None = None) -> Dataset:
    """Opens a saved data set; its arrays are memory-mapped.

    Sizes, headers, the digest's agreement with the manifest, and that actions and rewards are finite, are always checked.

    Args:
        path: the folder.
        verify: also check the sha256 of every array, which reads all of it.
        made_for: what the data set must have been made for; None takes any.

    Raises:
        AuditError: a file is missing, torn or changed, holds a number that is not finite, or the data set was made for something
            else; the message names the file.
    """
    arrays, manifest = read_folder(path, schema=SCHEMA, verify=verify)
    if made_for is not None:
        require_same(manifest.get("made_for"), made_for, where=str(path / MANIFEST), fix=_AGAIN)
    try:
        described = {name: manifest[name] for name in ("env", "behaviours", "collection")}
        checksums = {name: entry["sha256"] for name, entry in manifest["arrays"].items()}
        episodes = Episodes(**{name: arrays[name] for name in LAYOUT}, behaviours=tuple(described["behaviours"]))  # type: ignore[arg-type]
        split: dict[str, Ints] = {name: arrays[f"split_{name}"].astype(np.int64, copy=False) for name in SPLITS}
        spec = _spec(described["env"])
    except (KeyError, TypeError) as error:
        raise AuditError(f"does not describe a data set ({error})", where=str(path), expected=f"schema {SCHEMA}") from error
    digest = _digest(arrays, checksums, described)
    if digest != manifest.get("digest"):
        raise AuditError("holds another data set than its digest says", where=str(path), expected=digest, fix="build it again")
    _finite(path, episodes)
    return Dataset(episodes, split, spec, described["collection"], checksums, digest)


def _finite(path: Path, episodes: Episodes) -> None:
    """Collection records finite numbers alone; one that is not would only be noticed at the end of a training."""
    for name, array in (("action", episodes.action), ("reward", episodes.reward)):
        bad = np.argwhere(~np.isfinite(array))
        if bad.size:
            what, place = f"holds a number that is not finite, at {tuple(bad[0].tolist())}", str(path / f"{name}.npy")
            raise AuditError(what, where=place, expected="finite numbers", fix=_AGAIN)


def _arrays(episodes: Episodes, split: Mapping[str, Ints]) -> dict[str, Array]:
    return {**episodes.arrays(), **{f"split_{name}": split[name] for name in SPLITS}}


def _described(behaviours: tuple[str, ...], env: EnvSpec, collection: Mapping[str, Any]) -> dict[str, Any]:
    """What the digest covers beside the arrays, as JSON types: a reader gets back exactly this."""
    plain: dict[str, Any] = json.loads(
        json.dumps({"env": asdict(env), "behaviours": behaviours, "collection": collection}, allow_nan=False)
    )
    return plain


def _spec(entry: Mapping[str, Any]) -> EnvSpec:
    tuples = {name: tuple(entry[name]) for name in ("image", "action_low", "action_high")}
    return EnvSpec(**{**entry, **tuples})


def _digest(arrays: Mapping[str, Array], checksums: Mapping[str, str], described: Mapping[str, Any]) -> str:
    table = {name: [array.dtype.str, list(array.shape), checksums[name]] for name, array in arrays.items()}
    text = json.dumps({**described, "arrays": table}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
