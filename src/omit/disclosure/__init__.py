"""Cell suppression and swapping beside noisy histograms: what they guarantee and what they cost."""
