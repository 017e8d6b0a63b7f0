"""What a protected statistic is worth after records are left out: where both sides meet."""
