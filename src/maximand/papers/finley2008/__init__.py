"""Finley, Joachims: Training structural SVMs when exact inference is intractable."""

from maximand.papers.finley2008.random_mrfs import RANDOM_MRFS_SCALES, random_mrfs
from maximand.papers.finley2008.rho import RHO_SCALES, rho
from maximand.papers.finley2008.table1 import TABLE1_SCALES, table1

__all__ = ["RANDOM_MRFS_SCALES", "RHO_SCALES", "TABLE1_SCALES", "random_mrfs", "rho", "table1"]
