"""The statistics are our own: recomputing a verdict needs numpy and nothing heavier."""

import subprocess
import sys

import wm_audit.stats


def test_importing_the_statistics_brings_in_neither_torch_nor_scipy() -> None:
    code = "import sys, wm_audit.stats; print([name for name in ('torch', 'scipy', 'statsmodels', 'pandas') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_every_public_name_is_there_and_documented() -> None:
    for name in wm_audit.stats.__all__:
        assert getattr(wm_audit.stats, name).__doc__
