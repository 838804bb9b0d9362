"""`python -m experiments.lock`; the command lives in `wm_audit.cli.lock`."""

from wm_audit.cli.lock import main

if __name__ == "__main__":
    raise SystemExit(main())
