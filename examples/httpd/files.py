#!/usr/bin/env python3
"""The files that workload.sh asks for.

    files.py make DIRECTORY COLD    makes them: small/, medium/, large/, and COLD files in cold/
    files.py evict DIRECTORY        takes those in cold/ out of the page cache
"""
import os
import pathlib
import random
import sys

KINDS = {"small": (1000, 200, 8 << 10), "medium": (400, 8 << 10, 128 << 10), "large": (20, 512 << 10, 2 << 20)}


def make(root, cold):
    generator = random.Random(42)
    for kind, (count, least, most) in {**KINDS, "cold": (cold, 8 << 10, 128 << 10)}.items():
        (root / kind).mkdir(parents=True)
        for number in range(count):
            size = int(least * (most / least) ** generator.random())  # most are small
            (root / kind / str(number)).write_bytes(generator.randbytes(size))


def evict(root):
    for entry in os.scandir(root / "cold"):
        file = os.open(entry.path, os.O_RDONLY)
        os.fsync(file)  # only clean pages can be dropped
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def main():
    what, root, *cold = sys.argv[1:]
    if what == "make":
        make(pathlib.Path(root), int(cold[0]))
    else:
        evict(pathlib.Path(root))


main()
