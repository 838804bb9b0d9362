"""What tests of several folders share."""

import re
from pathlib import Path

import pytest

_POWER = (
    "power:\n  intra_seed_correlation: 0.5\n  source: assumed\n  table:\n"
    "    - {question: H1, seeds: 20, capacities: 3, true_value: 0, share_decided: 0.57}\n"
)


@pytest.fixture(scope="session")
def final_text() -> str:
    """The text of the project's promise as it would be when it is final: locked, with a power table."""
    text = (Path(__file__).parents[1] / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    return re.sub(r"power: null[^\n]*\n", _POWER, text.replace("status: draft", "status: locked"))


@pytest.fixture(scope="session")
def authority() -> str:
    """The openssl configuration of a time-stamping authority in the folder in which openssl runs."""
    return """[tsa]
default_tsa = own
[own]
serial = serial
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
[ext]
extendedKeyUsage = critical,timeStamping
[req]
distinguished_name = dn
[dn]
"""
