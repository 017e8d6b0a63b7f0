from .cell import Cell as Cell
from .cell import Computation as Computation
from .results import Results as Results
from .results import read_results as read_results
from .run import Progress as Progress
from .run import run_study as run_study
from .store import WallTime as WallTime
