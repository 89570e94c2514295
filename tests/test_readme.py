"""The examples of the README run as they stand there."""

import re
from pathlib import Path


def test_examples_run():
    text = (Path(__file__).parents[1] / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    namespace = {}
    for block in blocks:
        exec(block, namespace)
