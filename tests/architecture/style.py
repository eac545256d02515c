#!/usr/bin/env python3
"""Checks what clang-format leaves alone: comments of the code and prose of the documents end by column 100.

Tables, code blocks, and lines that a single long word fills (a link, a path) are exempt.

Usage: style.py REPOSITORY
"""

import os
import re
import subprocess
import sys

WIDTH = 100
CODE = (".c", ".cpp", ".h", ".hpp")
EXEMPT = re.compile(r"(^|/)(golden|subjects/work)/")


def tracked_files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True)
    return [path for path in listed.stdout.split("\0") if path and os.path.isfile(os.path.join(root, path))]


def is_one_word(text):
    return len(text.strip(" /*-<!>.").split()) <= 1


def long_comments(lines):
    for number, line in enumerate(lines, 1):
        comment = re.search(r"(^|[ ;{}])(//|/\*| \* ).*", line)
        if comment and len(line) > WIDTH and not is_one_word(comment.group(0)):
            yield number


def long_prose(lines):
    in_code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_table = line.lstrip(" >").startswith("|")
        if len(line) > WIDTH and not in_code and not is_table and not is_one_word(line):
            yield number


def check(root):
    for path in tracked_files(root):
        if EXEMPT.search(path) or not path.endswith(CODE + (".md",)):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        finder = long_prose if path.endswith(".md") else long_comments
        for number in finder(lines):
            yield f"{path}:{number}: wrap at {WIDTH} columns"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = list(check(sys.argv[1]))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
