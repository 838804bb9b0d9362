"""`python -m experiments.merge`; the command lives in `wm_audit.cli.merge`."""

from wm_audit.cli.merge import main

if __name__ == "__main__":
    raise SystemExit(main())
