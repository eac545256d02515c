#!/usr/bin/env python3
"""What measuring costs PostgreSQL. Needs run.sh first."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)

STUDY = overhead_study.Study(
    here=HERE,
    root="PostgresMain",
    unit="transaction",
    rate="tps",
    figures={"rate": r"^tps = ([\d.]+)", "latency_ms": r"^latency average = ([\d.]+)"},
    few={"TRANSACTIONS": "200"},
    uprobes=(10, 100),
    binaries=("installed/bin/postgres",),
)

if __name__ == "__main__":
    overhead_study.main(STUDY, f"{__doc__}\n\n{overhead_study.__doc__}")
