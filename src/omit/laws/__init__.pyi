from .distribution import Distribution as Distribution
