from .cell import Computation as Computation
from .results import read_results as read_results
from .run import run_study as run_study
