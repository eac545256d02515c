#!/usr/bin/env python3
"""What a program costs that is armed for `vprof live` while nobody looks: all call sites in place and
off, the runtime ready.

    armed_cost.py PROJECT PLAIN [--rounds 11]

PROJECT holds a vprof.json and has been built by `vprof live --build`; PLAIN is the same source tree,
built without VProfiler. `run` of vprof.json is run in both, in turn. It must do a fixed amount of
work, start the program by a relative path, and may print the throughput (stated_cost.py). Ratios
are medians of the rounds with an interval that contains the true median in 95 of 100 cases.
"""
import argparse
import pathlib

from stated_cost import configuration, shown, timed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("plain", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    state = options.project.resolve() / ".vprof"
    command, environment = configuration(options.project)
    kinds = {"plain": (options.plain, environment),
             "armed": (state / "mirror", {**environment, "VPROF_TRACE_DIR": str(state / "live/trace")})}
    processor, wall, rates = [], [], []
    for number in range(options.rounds):
        order = list(kinds.items()) if number % 2 == 0 else list(reversed(kinds.items()))
        done = {kind: timed(command, *place) for kind, place in order}
        plain, armed = done["plain"], done["armed"]
        processor.append(armed[0] / plain[0])
        wall.append(armed[1] / plain[1])
        if plain[2] and armed[2]:
            rates.append(armed[2] / plain[2])
        print(f"round {number + 1}: processor time {processor[-1]:.3f}x, wall time {wall[-1]:.3f}x"
              + (f", throughput {rates[-1]:.3f}x" if rates else ""), flush=True)
    print(f"armed and off, to plain: processor time {shown(processor, '.3f')}x, wall time "
          f"{shown(wall, '.3f')}x" + (f", throughput {shown(rates, '.3f')}x" if rates else ""))


if __name__ == "__main__":
    main()
