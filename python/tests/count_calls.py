"""A plugin of pytest for networkx's own tests: counts which functions the backend has answered, into the file that EMOGI_CALLS names."""

import collections
import functools
import inspect
import json
import os

CALLS = collections.Counter()


def counted(name, function):
    if inspect.isgeneratorfunction(inspect.unwrap(function)):

        @functools.wraps(function)
        def call(*args, **kwargs):
            CALLS[name] += 1
            yield from function(*args, **kwargs)

    else:

        @functools.wraps(function)
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            CALLS[name] += 1
            return result

    return call


def pytest_configure(config):
    from emogi.networkx.info import FUNCTIONS
    from emogi.networkx.interface import Backend

    for name in FUNCTIONS:
        setattr(Backend, name, staticmethod(counted(name, getattr(Backend, name))))


def pytest_sessionfinish(session):
    with open(os.environ["EMOGI_CALLS"], "w") as file:
        json.dump(CALLS, file)
