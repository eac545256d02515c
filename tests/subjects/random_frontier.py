#!/usr/bin/env python3
"""Drives a program that was built by `vprof live --build` without any sense: every 100 ms another random part of its sites
and gates is on, from none to all of them. Whatever is on, the program must do what it did before.

    random_frontier.py TRACE_DIRECTORY SITES_JSON [SEED]

Ends with SIGTERM, and switches everything off then. Prints how often it has switched.
"""
import fcntl
import json
import mmap
import random
import signal
import struct
import sys
import time

HEADER_BYTES = 4096
HEARTBEAT, EPOCH, UNDRIVEN, GAPS = 24, 32, 64, 72  # offsets (frontier.h)


def numbers(sites_json):
    with open(sites_json) as f:
        sites = json.load(f)
    return sorted(set(sites["site_ids"].values()))


def main():
    directory, sites_json, *seed = sys.argv[1:]
    ids = numbers(sites_json)
    dice = random.Random(int(seed[0]) if seed else 1)
    going = [True]
    signal.signal(signal.SIGTERM, lambda *_: going.clear())
    with open(directory + "/frontier", "r+b") as f:
        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        control = mmap.mmap(f.fileno(), 0)
        switched = 0
        while going:
            share = dice.choice((0, 1 / 256, 1 / 16, 1 / 4, 1 / 2, 1))
            on = bytearray(len(control) - HEADER_BYTES)
            for number in ids:
                on[number] = dice.random() < share
            struct.pack_into("<Q", control, HEARTBEAT, time.monotonic_ns() | 1)
            control[HEADER_BYTES:] = bytes(on)
            struct.pack_into("<Q", control, EPOCH, switched)
            switched += 1
            time.sleep(0.1)
        control[HEADER_BYTES:] = bytes(len(control) - HEADER_BYTES)
        for counter in GAPS, UNDRIVEN:
            count = struct.unpack_from("<Q", control, counter)[0]
            struct.pack_into("<Q", control, counter, count + 1)
        struct.pack_into("<Q", control, HEARTBEAT, 0)
    print(f"{len(ids)} sites and gates, switched {switched} times")


main()
