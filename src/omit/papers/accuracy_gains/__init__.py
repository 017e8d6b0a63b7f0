"""Accuracy gains from sampling: Hu, Drechsler and Kim."""
