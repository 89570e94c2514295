import os
import sys
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
if "MAXIMAND_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["MAXIMAND_DATA"] = str(BESIDE)
sys.path.insert(0, str(Path(__file__).parent / "laws"))  # the cases serve other tests as well


@pytest.fixture(scope="session")
def data() -> Path:
    folder = os.environ.get("MAXIMAND_DATA")
    if not folder:
        pytest.skip("MAXIMAND_DATA is not set: the public data sets are not here")
    return Path(folder)
