"""Epsilon and delta of disclosure control: Das, Zhu, Task, Van Hentenryck and Fioretto."""
