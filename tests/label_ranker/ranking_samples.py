"""Labels to be ranked."""

import numpy as np

NAMES = np.array(["ash", "birch", "cedar", "elm"])
