"""Our few lines of torch give what the packages gave that the weights were published with.

The numbers in `references/` were made once with those packages; each file says with what, when, from which weights and input.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import strict_json
from wm_audit.diagnostics.features import ftd_transnetv2, mobilenetv2_unlin, stlpips_alex
from wm_audit.diagnostics.features.paired import paired_distances
from wm_audit.diagnostics.features.weights import WEIGHT_FILES

REFERENCES = Path(__file__).parent / "references"
Bytes = NDArray[np.uint8]


def reference(name: str, *arrays: Bytes) -> dict[str, Any]:
    """The stored numbers, after a look at whether they belong to these weights and this input."""
    entry: dict[str, Any] = strict_json.load(REFERENCES / f"{name}.json")
    found = hashlib.sha256(b"".join(np.ascontiguousarray(item).tobytes() for item in arrays)).hexdigest()
    assert entry["input"] == "sha256:" + found
    assert entry["weights"] == WEIGHT_FILES[name].sha256
    assert entry["made_with"] == WEIGHT_FILES[name].requirement
    return entry


@pytest.mark.parametrize("module", [stlpips_alex, mobilenetv2_unlin], ids=["stlpips_alex", "mobilenetv2_unlin"])
def test_distances_of_pairs(module: Any, pairs: tuple[Bytes, Bytes], installed: Callable[[Any], Any]) -> None:
    feature = installed(module.load())
    expected = reference(module.NAME, *pairs)
    first, second = (item.astype(np.float32) / np.float32(255.0) for item in pairs)
    found = paired_distances(feature, first, second[None], 16)[0]
    assert np.allclose(found, expected["distances"], rtol=2e-5, atol=1e-7)
    assert feature.digest == expected["weights"]


def test_descriptions_of_clips(clips: Bytes, installed: Callable[[Any], Any]) -> None:
    feature = installed(ftd_transnetv2.load())
    expected = reference(ftd_transnetv2.NAME, clips)
    found = feature.describe(clips.astype(np.float32) / np.float32(255.0))
    assert found.shape == (2, ftd_transnetv2.WIDTH)
    assert np.allclose(found[:, ::14], expected["descriptions"], rtol=1e-5, atol=1e-6)
