"""`python -m experiments.analyse`; the command lives in `wm_audit.cli.analyse`."""

from wm_audit.cli.analyse import main

if __name__ == "__main__":
    raise SystemExit(main())
