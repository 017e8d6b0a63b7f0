from .column import Column as Column
from .datasets import datasets as datasets
from .points import Points as Points
from .reading import read as read
from .reading import read_points as read_points
