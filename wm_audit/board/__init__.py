"""Results files, the merge of shards, and what people read: the leaderboard and the end of a run. No torch."""
