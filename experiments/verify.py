"""`python -m experiments.verify`; the command lives in `wm_audit.cli.verify`."""

from wm_audit.cli.verify import main

if __name__ == "__main__":
    raise SystemExit(main())
