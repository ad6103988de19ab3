"""Validates records against docs/record.schema.json.  A member that the schema does not describe is a fault, too."""

import json
import pathlib
import sys

import jsonschema

PATH = pathlib.Path(__file__).resolve().parents[3] / "docs" / "record.schema.json"


def _strict(schema):
    """The schema, which allows no other members than it has."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(part) for key, part in schema.items()}
    if "properties" in made and "type" in made:
        made.setdefault("additionalProperties", False)
    return made


def _validator():
    schema = json.loads(PATH.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(_strict(schema))


VALIDATOR = _validator()


def faults(records):
    """The faults of records, a line for each."""
    found = []
    for record in records:
        for error in VALIDATOR.iter_errors(record):
            best = jsonschema.exceptions.best_match([error])
            found.append(f"{record.get('label') or record.get('payload')}: {best.json_path}: {best.message[:300]}")
    return found


def main():
    """Print what is wrong in files of records; status 1 if anything is."""
    found = [f"{path}: {fault}" for path in sys.argv[1:] for fault in faults(map(json.loads, pathlib.Path(path).read_text().splitlines()))]
    print("\n".join(found), file=sys.stderr)
    return 1 if found or len(sys.argv) == 1 else 0


if __name__ == "__main__":
    sys.exit(main())
