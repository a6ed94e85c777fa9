#!/usr/bin/env python3
"""Make a small corpus of what Debian says of its packages: entities, passages, and how they are related, as files for COPY.

    corpus.py FOLDER PACKAGES < records        FOLDER/translation has the long descriptions, or is empty

    FOLDER/entity.tsv         id  name  kind  text           a package, or a topic that Debian's editors have put packages under
    FOLDER/chunk.tsv          id  entity  number  text       a paragraph of a package's description
    FOLDER/relationship.tsv   src  dst  kind  weight

Records are what `apt-cache dumpavail` prints. Of all packages that have topics those are taken that most others ask for. A pipeline for
texts of your own has a language model that finds entities and relationships; what stands in for it here are dependencies, topics, and
names of packages that a paragraph has as words. The same records give the same files.
"""

import collections
import math
import re
import sys
from pathlib import Path

ASKS = {"Pre-Depends": 1.0, "Depends": 1.0, "Recommends": 0.5, "Suggests": 0.25}
FACETS = {"use", "works-with", "works-with-format", "field", "game", "protocol", "network", "admin", "devel", "sound", "web", "security", "hardware"}
TOO_COMMON = 40         # a name that more paragraphs than this have as a word is a word: make, time, file
SHORT = 80              # letters of a paragraph that joins the next
FIELDS = {"Package", "Description", "Description-md5", "Description-en", "Tag", *ASKS}


def paragraphs(lines):
    """Get the blocks of fields of a file as dicts, FIELDS alone. A line that begins with a blank goes on with the field before."""
    fields, last = {}, None
    for line in lines:
        if line == "\n":
            if fields:
                yield fields
            fields, last = {}, None
        elif line[0] in " \t":
            if last in FIELDS:
                fields[last] += line[1:]
        else:
            last, _, value = line[:-1].partition(":")
            if last in FIELDS:
                fields[last] = value.strip() + "\n"
    if fields:
        yield fields


def names(field):
    """Get the names in a list like "a (>= 1) | b:any, c"."""
    return [part.split(maxsplit=1)[0].partition(":")[0] for part in re.split("[,|]", field) if part.strip()]


def passages(short, long):
    """Get the passages of a description: its paragraphs, the first of which has the short description in front."""
    parts, part = [], [short + "."]
    for line in long.split("\n") + ["."]:
        if line.strip() != ".":
            part.append(line.strip())
        elif sum(map(len, part)) >= SHORT:
            parts.append(" ".join(part))
            part = []
    if part:
        parts.append(" ".join(part))
    return parts


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(str(x).replace("\\", "\\\\").replace("\t", " ").replace("\n", " ") for x in row) + "\n")


def read_packages(records):
    """Get the records that have topics, the first of each name."""
    packages = {}
    for record in paragraphs(records):
        record["topics"] = [topic for topic in re.split(r",\s*", record.get("Tag", "").strip()) if topic.partition("::")[0] in FACETS]
        if record["topics"]:
            packages.setdefault(record["Package"].strip(), record)
    return packages


def choose(packages, many):
    """Choose those that most others ask for; of equals those whose names come first."""
    asked = collections.Counter(name for record in packages.values() for ask in ASKS for name in set(names(record.get(ask, ""))))
    return sorted(sorted(packages, key=lambda name: (-asked[name], name))[:many])


def main():
    folder, many = Path(sys.argv[1]), int(sys.argv[2])
    packages = read_packages(sys.stdin)
    chosen = choose(packages, many)
    if len(chosen) < 100:
        sys.exit(f"there are {len(chosen)} packages with topics in the records, which is no corpus")
    topics = sorted({topic for name in chosen for topic in packages[name]["topics"]})
    ids = {name: number for number, name in enumerate(chosen + topics, 1)}
    short = {name: packages[name].get("Description", name).partition("\n")[0] for name in chosen}

    wanted = {packages[name].get("Description-md5") for name in chosen} - {None}
    with open(folder / "translation", encoding="utf-8") as lines:
        long = {text["Description-md5"]: text["Description-en"].partition("\n")[2] for text in paragraphs(lines) if text.get("Description-md5") in wanted}

    chunks = []
    for name in chosen:
        here = packages[name].get("Description", "").partition("\n")[2]
        for number, text in enumerate(passages(f"{name}: {short[name]}", long.get(packages[name].get("Description-md5"), here)), 1):
            chunks.append((len(ids) + len(chunks) + 1, ids[name], number, text.strip()))

    related = collections.defaultdict(float)
    for name in chosen:
        for ask, weight in ASKS.items():
            for other in set(names(packages[name].get(ask, ""))) - {name}:
                if other in ids:
                    key = ids[name], ids[other], "asks for"
                    related[key] = max(related[key], weight)
        for topic in set(packages[name]["topics"]):
            related[ids[name], ids[topic], "is about"] = 1.0
    # What everybody asks for says little.
    popular = collections.Counter(dst for _, dst, _ in related)
    for key in related:
        related[key] /= math.log2(1 + popular[key[1]])

    words = [{word for word in re.findall(r"[a-z0-9][a-z0-9+.-]*[a-z0-9+]", text) if word in ids} for _, _, _, text in chunks]
    common = collections.Counter(word for found in words for word in found)
    for (chunk, entity, _, _), found in zip(chunks, words):
        related[chunk, entity, "tells of"] = 1.0
        for name in found:
            if common[name] <= TOO_COMMON and ids[name] != entity:
                related[chunk, ids[name], "tells of"] = 0.5

    write(folder / "entity.tsv", [(ids[name], name, "package", f"{name}: {short[name]}") for name in chosen] + [(ids[name], name, "topic", re.sub("[:-]+", " ", name)) for name in topics])
    write(folder / "chunk.tsv", chunks)
    write(folder / "relationship.tsv", [(*key, f"{weight:.6f}") for key, weight in sorted(related.items())])


main()
