#!/usr/bin/env python3
"""What measuring costs MariaDB. Needs run.sh first; its first iteration is enough."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)

STUDY = overhead_study.Study(
    here=HERE,
    root="do_command",
    unit="transaction",
    rate="tps",
    figures={"rate": r"^ *transactions: .*\(([\d.]+) per sec", "latency_ms": r"^ *avg: +([\d.]+)"},
    few={"TRANSACTIONS": "200"},
    # In headers: that would compile a third of the server again, at each level and for each variant.
    left_whole=("*.h", "*.ic", "*.hpp"),
    needs=("bld/sql/mariadbd", "bld/sql/share", "bld/client/mariadb", "sql/share"),
)

if __name__ == "__main__":
    overhead_study.main(STUDY, f"{__doc__}\n\n{overhead_study.__doc__}")
