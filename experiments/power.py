"""`python -m experiments.power`; the command lives in `wm_audit.cli.power`."""

from wm_audit.cli.power import main

if __name__ == "__main__":
    raise SystemExit(main())
