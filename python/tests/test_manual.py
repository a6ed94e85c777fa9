"""The examples of docs/python.md run, from top to bottom, and print what the page says."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

PAGE = Path(os.environ.get("EMOGI_ROOT", Path(__file__).parents[2])) / "docs" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", PAGE.read_text(), re.M | re.S)


def test_page_has_examples():
    assert len(EXAMPLES) >= 6


def test_examples(empty_schema):
    scope: dict = {}
    wrong = []
    for code, expected in EXAMPLES:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), scope)
        printed = re.sub(r"[ \t]+$", "", out.getvalue(), flags=re.M)
        if printed != expected:
            wrong.append(f"{code}\nprinted\n{printed}\nand the page says\n{expected}")
    scope["db"].close()
    if wrong:
        pytest.fail("\n\n".join(wrong))
