"""Statistical privacy: what an adversary who knows the distribution of the data can learn."""
