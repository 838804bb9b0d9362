"""`python -m experiments.make_leaderboard`; the command lives in `wm_audit.cli.make_leaderboard`."""

from wm_audit.cli.make_leaderboard import main

if __name__ == "__main__":
    raise SystemExit(main())
