"""A claim and what became of it."""

import pytest

from omit.errors import InvalidInput
from omit.papers.reproduction import Verdict


def test_a_verdict_has_one_of_four_standings() -> None:
    with pytest.raises(InvalidInput, match="one of: holds, holds in part"):
        Verdict("A claim.", "Section 1", "perhaps", "A finding.")  # type: ignore[arg-type]
