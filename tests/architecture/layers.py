#!/usr/bin/env python3
"""Checks the includes of the product code against the layer rules written in docs/architecture.md.

The rules are the code blocks there that are marked `layers`. Each line lists rooms, lowest layer first in its
component, with the rooms whose headers they may include:

    analyzer/critical_path <- analyzer/trace

Fails on an include that no rule allows, on a rule that no include needs, on a circle, on a room that no rule names, on
more than 20 source files in a folder, and on 20 or more edges between the rooms of one component.

Usage: layers.py REPOSITORY
"""

import collections
import os
import re
import sys

COMPONENTS = ("support", "annotations", "runtime", "instrumenter", "analyzer", "report", "tables", "driver")
MOST_FILES = 20
MOST_EDGES = 20
SOURCE = re.compile(r"\.(c|cpp|h)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)


def read_rules(architecture):
    """Allowed edges {(from, to)} and the order of rooms, from the fenced blocks marked `layers`."""
    allowed, order = set(), []
    with open(architecture, encoding="utf-8") as file:
        blocks = re.findall(r"```layers\n(.*?)```", file.read(), re.DOTALL)
    for line in "\n".join(blocks).splitlines():
        if not line.strip():
            continue
        room, _, below = line.partition("<-")
        room = room.strip()
        order.append(room)
        allowed |= {(room, other) for other in below.replace(",", " ").split()}
    return allowed, order


def source_files(root):
    for component in COMPONENTS:
        for folder, _, names in os.walk(os.path.join(root, component)):
            for name in names:
                if SOURCE.search(name):
                    yield os.path.relpath(os.path.join(folder, name), root)


def room_of(path):
    """`analyzer/trace` of analyzer/src/trace/sites.h; `analyzer` of its public headers and of files directly in src/."""
    parts = path.split(os.sep)
    if len(parts) > 3 and parts[1] == "src":
        return f"{parts[0]}/{parts[2]}"
    return parts[0] if "include" in parts else f"{parts[0]}/{parts[1]}"


def target_of(path, include, files):
    """The file of the project that an include means, or None."""
    component = path.split(os.sep)[0]
    beside = os.path.join(os.path.dirname(path), include)
    candidates = [beside, os.path.join(component, "src", include), os.path.join(component, "shim", include)]
    candidates += [os.path.join(other, "include", include) for other in COMPONENTS]
    return next((candidate for candidate in candidates if candidate in files), None)


def find_circle(edges):
    below = collections.defaultdict(set)
    for room, other in edges:
        below[room].add(other)
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        for other in sorted(below[room]):
            circle = visit(other)
            if circle:
                return circle
        path.pop()
        done.add(room)
        return None

    return next((circle for room in sorted(below) if (circle := visit(room))), None)


def check(root):
    files = set(source_files(root))
    allowed, order = read_rules(os.path.join(root, "docs", "architecture.md"))
    problems, edges = [], collections.defaultdict(list)
    for path in sorted(files):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            includes = INCLUDE.findall(file.read())
        for include in includes:
            target = target_of(path, include, files)
            if target and room_of(target) != room_of(path):
                edges[room_of(path), room_of(target)].append(f"{path} includes {include}")
    for edge, where in sorted(edges.items()):
        own_header = edge[1] == edge[0].split("/")[0]
        if edge not in allowed and not own_header:
            problems.append(f"{edge[0]} may not include {edge[1]}: " + "; ".join(where))
    for edge in sorted(allowed - set(edges)):
        problems.append(f"docs/architecture.md allows {edge[0]} <- {edge[1]}, which no include needs")
    rooms = {room_of(path) for path in files}
    for room in sorted(rooms - set(order)):
        problems.append(f"docs/architecture.md has no layer rule for {room}")
    for room in sorted(set(order) - rooms):
        problems.append(f"docs/architecture.md has a layer rule for {room}, which does not exist")
    circle = find_circle({edge for edge in edges if edge[1] != edge[0].split("/")[0]})
    if circle:
        problems.append("a circle of includes: " + " -> ".join(circle))
    for component in COMPONENTS:
        inner = {e for e in edges if e[0].startswith(component + "/") and e[1].startswith(component + "/")}
        if len(inner) >= MOST_EDGES:
            problems.append(f"{component} has {len(inner)} edges between its rooms; fewer than {MOST_EDGES} are allowed")
    folders = collections.Counter(os.path.dirname(path) for path in files)
    for folder, count in sorted(folders.items()):
        if count > MOST_FILES:
            problems.append(f"{folder} holds {count} source files; {MOST_FILES} are allowed")
    return problems, edges


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems, edges = check(sys.argv[1])
    for problem in problems:
        print(problem)
    print(f"{len(edges)} edges between rooms, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
