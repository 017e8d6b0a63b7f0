"""Claims on numbers of a test's own."""

import pandas as pd

from omit.papers import Claim, Computed, Finding
from omit.papers.omitting_records.better_mechanisms import compared
from omit.papers.omitting_records.cells import judged_cells


def finding(claim: Claim, numbers: object) -> Finding:
    found = claim.judge(numbers)
    assert found is not None
    return found


def standing(claim: Claim, numbers: object) -> str:
    return finding(claim, numbers).standing


class Judged(Computed):
    """A judged table in place of what a study computed, without mechanisms beyond the paper."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._known = {(judged_cells, ()): table, (compared, ()): None}
