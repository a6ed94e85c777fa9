"""Notices of the server, as warnings of Python."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

_PACKAGE = str(Path(__file__).parent) + os.sep
_SHOWN = ("NOTICE", "WARNING")


class Notice(UserWarning):
    """A NOTICE or WARNING that a call raised, such as that edges have no weights."""


def _level() -> int:
    """Get the stack level of the caller of the package, as seen from the caller of this function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and (frame.f_code.co_filename.startswith(_PACKAGE) or frame.f_code.co_filename == contextlib.__file__):
        frame, level = frame.f_back, level + 1
    return level


@contextlib.contextmanager
def warned(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Warn of the notices that the connection gets meanwhile, even if the call fails. Handlers of the user get them as well."""
    texts: list[str] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized in _SHOWN:
            texts.append("\n".join(filter(None, (notice.message_primary, notice.message_detail, notice.message_hint))))

    connection.add_notice_handler(note)
    try:
        yield
    except BaseException:
        # A filter that turns warnings into errors must not replace the error of the call.
        for text in texts:
            try:
                warnings.warn(text, Notice, stacklevel=_level())
            except Notice:
                pass
        raise
    finally:
        connection.remove_notice_handler(note)
    for text in texts:
        warnings.warn(text, Notice, stacklevel=_level())
