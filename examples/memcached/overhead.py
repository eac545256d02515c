#!/usr/bin/env python3
"""What measuring costs memcached. Needs run.sh first."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)

STUDY = overhead_study.Study(
    here=HERE,
    root="drive_machine",
    unit="request",
    rate="req/s",
    figures={"rate": r"\(([\d.]+)/s"},
    few={"LOAD_REQUESTS": "20000"},
    needs=("memcached",),
)

if __name__ == "__main__":
    overhead_study.main(STUDY, f"{__doc__}\n\n{overhead_study.__doc__}")
