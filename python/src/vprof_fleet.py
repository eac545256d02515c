"""What `vprof fleet` runs: `python -m vprof.fleet`, or one clear line where a package is missing."""

import sys


def main() -> int:
    try:
        from vprof.fleet.__main__ import main as fleet
    except ModuleNotFoundError as missing:
        print(
            f"vprof: fleet needs the Python package {missing.name}, which {sys.executable} does not have; install it "
            "with: python3 -m venv ~/.local/share/vprof/python && "
            "~/.local/share/vprof/python/bin/pip install pyarrow pandas duckdb; VPROF_PYTHON names another Python",
            file=sys.stderr,
        )
        return 2
    return fleet()


if __name__ == "__main__":
    sys.exit(main())
