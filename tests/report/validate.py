"""Checks reports against schemas/report.schema.json.

Usage: validate.py SCHEMA REPORT...
"""

import json
import sys

import jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    schema_path, *reports = sys.argv[1:]
    schema = load(schema_path)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failed = False
    for path in reports:
        for error in validator.iter_errors(load(path)):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
