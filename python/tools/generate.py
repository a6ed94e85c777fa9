#!/usr/bin/env python3
"""Write src/emogi/_functions.py, a method for each function of the extension, from the catalogue of a database that has it.

    tools/generate.py            write it; libpq's environment says where the database is
    tools/generate.py --print    print it

The test of the package sees that the file is what this program would write.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

import psycopg

TARGET = Path(__file__).parent.parent / "src" / "emogi" / "_functions.py"

QUERY = """
SELECT p.proname, array_agg(coalesce(a.name, '') ORDER BY a.at) AS names, array_agg(format_type(a.type, NULL) ORDER BY a.at) AS types,
       array_agg(a.mode ORDER BY a.at) AS modes, p.pronargs, p.pronargdefaults, p.proretset, format_type(p.prorettype, NULL) AS returns,
       pg_get_function_arguments(p.oid) AS said, obj_description(p.oid, 'pg_proc') AS comment
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
     JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'emogi'
     CROSS JOIN LATERAL unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]), coalesce(p.proargmodes, array_fill('i'::"char", ARRAY[p.pronargs::int])))
         WITH ORDINALITY AS a(name, type, mode, at)
WHERE p.proname LIKE 'emogi\\_%' AND p.proargnames[1] = 'graph' AND p.proargtypes[0] = 'text'::regtype AND p.prosrc <> 'emogi_refuse_array'
GROUP BY p.oid ORDER BY p.proname, p.oid
"""

# Not of a graph: what makes a graph argument.
LEFT_OUT = {"emogi_query", "emogi_with_vertices"}
KEYS = ("bigint", "text", "uuid")
PYTHON = {"integer": "int", "bigint": "int", "double precision": "float", "boolean": "bool", "text": "str"}

HEAD = '''"""A method for each function of the extension. Written by tools/generate.py from the catalogue; do not change it by hand."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uuid

    import numpy as np
    from psycopg import sql

    from ._fetch import ProgressArgument
    from ._result import Result

    # A vertex: an int, a str or a UUID, by the type of the columns; a tuple where several columns are the key.
    Key = int | str | uuid.UUID | tuple[Any, ...]
    Keys = Sequence[Key] | np.ndarray
    Query = str | sql.Composable

# The forms of each function: arguments behind the graph, "!" where there is no default; columns; whether the type of the vertices is a
# part of the function's name; what it returns. "key" is the type of the vertices.
'''


def variants(rows: list[dict[str, Any]]) -> dict[str, list[list[dict[str, Any]]]]:
    """Put together, for each name, the functions that have the same arguments and differ in the type of the vertices."""
    found: dict[str, dict[tuple[str, ...], list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    names = {row["proname"] for row in rows}
    for row in rows:
        base = re.sub("_(text|uuid)$", "", row["proname"])
        base = base if base in names else row["proname"]
        inputs = tuple(row["names"][: row["pronargs"]])
        found[base][inputs].append(row)
    return {name: list(groups.values()) for name, groups in sorted(found.items()) if name not in LEFT_OUT}


def is_key(types: set[str]) -> bool:
    """Are these the types that one argument or column has in the three forms?"""
    plain = {type_.removesuffix("[]") for type_ in types}
    return plain == set(KEYS)


def form(group: list[dict[str, Any]], base: str) -> tuple[Any, ...]:
    """Tell one form of a function: arguments, columns, whether it has a suffix, what it returns."""
    row = next(row for row in group if row["proname"] == base)
    required = row["pronargs"] - row["pronargdefaults"]
    arguments, columns = [], []
    for at, (name, mode) in enumerate(zip(row["names"], row["modes"])):
        types = {other["types"][at] for other in group}
        if is_key(types):
            type_ = "key[]" if all(one.endswith("[]") for one in types) else "key"
        else:
            type_ = row["types"][at]
        if mode == "i" and at > 0:
            arguments.append((name, type_ + ("!" if at < required else "")))
        elif mode != "i":
            columns.append((name, type_))
    suffixed = any(other["proname"] != base for other in group)
    returns = "rows" if row["proretset"] else "record" if columns else row["returns"]
    return tuple(arguments), tuple(columns), suffixed, returns


def defaults(row: dict[str, Any]) -> dict[str, str]:
    """Get the default of each argument as Python writes it."""
    result = {}
    for part in re.split(r", (?=\w+ [a-z])", row["said"]):
        if match := re.match(r"(\w+) [a-z \[\]]+ DEFAULT (.*)$", part):
            value = re.sub(r"::.*$", "", match[2])
            result[match[1]] = {"NULL": "None", "true": "True", "false": "False"}.get(value, value)
    return result


# Arguments that are a query, and what may stand for it.
QUERIES = {"start": "Query | Mapping[Any, float]", "communities": "Query | Mapping[Any, Any]", "pairs": "Query | Sequence[tuple[Key, Key]]"}


def annotation(type_: str, name: str = "") -> str:
    if name in QUERIES:
        return QUERIES[name]
    bare = type_.rstrip("!")
    return {"key": "Key | Keys", "key[]": "Keys"}.get(bare, PYTHON.get(bare, "Any"))


def method(base: str, groups: list[list[dict[str, Any]]]) -> str:
    """Write one method."""
    forms = [form(group, base) for group in groups]
    name = base.removeprefix("emogi_")
    order: list[str] = []
    for arguments, *_ in forms:
        order += [one for one, _ in arguments if one not in order and one != "direction"]
    if any(("direction" in dict(arguments)) for arguments, *_ in forms):
        # Where the function has it, so that arguments by position mean what they mean in SQL.
        longest = max((arguments for arguments, *_ in forms), key=len)
        place = [one for one, _ in longest].index("direction")
        order.insert(place + len(order) - len([one for one, _ in longest if one != "direction"]), "direction")
    said = {}
    for group in groups:
        said.update(defaults(group[0]))
    single = {row["types"][row["names"].index("source")] for group in groups for row in group if "source" in row["names"][: row["pronargs"]]}
    takes_many = any(type_.endswith("[]") for type_ in single)
    parameters, texts = ["self"], []
    for one in order:
        types = [dict(arguments).get(one) for arguments, *_ in forms]
        kind = annotation(next(type_ for type_ in types if type_), one)
        if one in ("source", "target") and not takes_many:
            kind = "Key"
        if all(type_ and type_.endswith("!") for type_ in types):
            # A source that is NULL gives no rows, in SQL and here.
            parameters.append(f"{one}: {kind} | None" if one in ("source", "target") else f"{one}: {kind}")
        else:
            default = "None" if one == "direction" else said.get(one, "None")
            optional = " | None"
            parameters.append(f"{one}: {kind}{optional} = {default.replace(chr(39), chr(34))}")
        if one == "direction":
            texts.append(f"``direction`` is that of the graph handle, or else {said.get('direction')}.")
    returns = forms[0][3]
    if returns == "rows":
        parameters += ["*", "select: str | Sequence[str] | None = None", "progress: ProgressArgument = None"]
    head = f"    def {name}({', '.join(parameters)}) -> "
    passed = "{" + ", ".join(f'"{one}": {one}' for one in order) + "}"
    columns = forms[0][1]
    listed = ", ".join(f"{column} {'of the type of the vertices' if type_ == 'key' else type_}" for column, type_ in columns)
    comment = groups[0][0]["comment"]
    doc = [f"{comment[0].upper()}{comment[1:]}.", ""]
    if returns == "rows":
        doc += [f"Columns: {listed}.", *texts, "``select`` names the columns that are wanted."]
        head, body = head + "Result:", f'return self._rows("{name}", {passed}, select, progress)'
    elif returns == "record":
        doc += [f"A dict: {listed}.", *texts]
        head, body = head + "dict[str, Any]:", f'return self._record("{name}", {passed})'
    else:
        head, body = head + f"{PYTHON[returns]}{' | None' if returns == 'double precision' else ''}:", f'return self._value("{name}", {passed})'
    doc += ["", f"SQL: ``emogi_{name}``"]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(doc))
    return f'{head}\n{textwrap.indent(chr(34) * 3 + text + chr(10) + chr(34) * 3, " " * 8, lambda line: True).replace("        " + chr(10), chr(10))}\n        {body}\n'


def write(connection: psycopg.Connection[Any]) -> str:
    """Make the text of the file."""
    rows = connection.cursor(row_factory=psycopg.rows.dict_row).execute(QUERY).fetchall()
    parts = [HEAD, "FUNCTIONS: dict[str, tuple[tuple[Any, ...], ...]] = {\n"]
    found = variants(rows)
    for base, groups in found.items():
        parts.append(f'    "{base.removeprefix("emogi_")}": (\n')
        for group in groups:
            parts.append(f"        {form(group, base)!r},\n".replace("'", '"'))
        parts.append("    ),\n")
    parts.append("}\n\n\nclass Functions:\n")
    parts.append('    """The functions of the extension as methods. The arguments have the names, the order and the defaults of SQL."""\n\n')
    parts.append("    def _rows(self, function: str, arguments: Mapping[str, Any], select: str | Sequence[str] | None, progress: ProgressArgument) -> Result:\n        raise NotImplementedError\n\n")
    parts.append("    def _record(self, function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:\n        raise NotImplementedError\n\n")
    parts.append("    def _value(self, function: str, arguments: Mapping[str, Any]) -> Any:\n        raise NotImplementedError\n\n")
    parts.append("\n".join(method(base, groups) for base, groups in found.items()))
    return "".join(parts)


def main() -> None:
    with psycopg.connect(autocommit=True) as connection:
        text = write(connection)
    if sys.argv[1:] == ["--print"]:
        print(text, end="")
    elif not sys.argv[1:]:
        TARGET.write_text(text)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
