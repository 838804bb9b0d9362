"""`python -m experiments.run_audit`; the command lives in `wm_audit.cli.run_audit`."""

from wm_audit.cli.run_audit import main

if __name__ == "__main__":
    raise SystemExit(main())
