"""What tests of several folders share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def final_text() -> str:
    """The text of the project's promise as it would be when it is final."""
    text = (Path(__file__).parents[1] / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    return text.replace("status: draft", "status: locked")


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
