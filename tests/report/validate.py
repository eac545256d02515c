"""Checks reports against schemas/report.schema.json.

Usage: validate.py SCHEMA REPORT...
"""

import json
import sys

import jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def undescribed(value, schema, definitions, path):
    """Paths of the fields that the schema accepts, but does not describe."""
    for part in [schema.get("$ref", "")] + [part.get("$ref", "") for part in schema.get("allOf", [])]:
        if part:
            schema = definitions[part.split("/")[-1]]
    if isinstance(value, list):
        return [found for item in value for found in undescribed(item, schema.get("items", {}), definitions, path + "[]")]
    if not isinstance(value, dict) or "additionalProperties" in schema:
        return []
    known = schema.get("properties", {})
    found = [f"{path}.{name}" for name in value if name not in known]
    for name in value.keys() & known.keys():
        found += undescribed(value[name], known[name], definitions, f"{path}.{name}")
    return found


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
        for field in sorted(set(undescribed(load(path), schema, schema.get("definitions", {}), ""))):
            print(f"{path}: the schema does not describe {field}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
