#!/usr/bin/env python3
"""What measuring costs httpd. Needs run.sh first."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)

STUDY = overhead_study.Study(
    here=HERE,
    root="ap_process_async_request",
    unit="request",
    rate="req/s",
    figures={"rate": r"^requests per second = ([\d.]+)",
             "latency_ms": r"^latency average = ([\d.]+)"},
    few={"REQUESTS": "5000"},
)

if __name__ == "__main__":
    overhead_study.main(STUDY, f"{__doc__}\n\n{overhead_study.__doc__}")
