"""From rows to verdicts, by rules fixed beforehand; recomputable from a results file alone, without torch."""
