"""Reads files of records (docs/records.md), and refuses what is no such file.

A record is a dictionary.  After load() its members have the types that the
other modules use.  Characters that cannot be printed are replaced, because any
program of a guest can write a record.
"""

import collections
import json

from host.emulator.qemu import HostError
from host.terminal import printable

SCHEMA = 1
DATA = "barecpc.data"  # the usual file of a profile
HOST = "barecpc"  # the payload of the record that the host adds to a profile
SUFFIX = {"user": "u", "system": "k", "both": "uk"}
MOST_REASONS = 3  # that disturbed() lists
QUANTITIES = ("count", "tick", "hrtime_ns")
TEXTS = ("payload", "label", "event", "overhead_method")
PRODUCER = "name a file that `barecpc run --results` wrote"


def load(path, producer=PRODUCER):
    """The measurements in a file, and its profiles and files.

    Raises HostError with one line that says what is wrong, and by `producer` which file to name.
    """
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}: {producer}") from None
    measurements, others = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = clean(json.loads(line))
        except (ValueError, RecursionError):
            if number == len(lines) and line.lstrip().startswith(b"{"):
                raise HostError(f"{path}: line {number} is cut off: the run did not end: run again, or delete the line") from None
            raise HostError(f"{path}: line {number} is not JSON: {producer}") from None
        if not isinstance(record, dict) or not is_int(record.get("schema")):
            raise HostError(f"{path}: line {number} is no record, which has a `schema`: {producer}")
        if record["schema"] != SCHEMA:
            raise HostError(f"{path}: line {number} has schema {record['schema']}, not {SCHEMA}: use the barecpc that wrote it")
        if "json-z" in record:
            raise HostError(f"{path}: line {number} is packed: give the console's text to `barecpc read --results`")
        if "label" not in record:
            others.append(record)
            continue
        record.setdefault("conditions", {"measured": None, "overhead": None})  # version 1 gained it later
        fault = _fault(record)
        if fault:
            raise HostError(f"{path}: line {number}: {fault} is not as docs/records.md has it: {producer}")
        measurements.append(record)
    if not measurements and not others:
        raise HostError(f"{path}: it is empty: the run left no record: see the run's last line")
    return measurements, others


def sums(others):
    """The SHA-256 of each program and library that ran, by its path in the guest."""
    listed = [file for record in others if record.get("payload") == HOST and _are(dict, record.get("files")) for file in record["files"]]
    return {str(file.get("program")): str(file.get("sha256")) for file in listed}


def event_name(record):
    """The event as the tables print it."""
    return f"{record['event']}:{SUFFIX[record['privilege']]}"


def arguments(record):
    return " ".join(record["arguments"])


def numbered(pairs):
    """A dictionary of (key, value) pairs.  A number is appended to each key: 1, or 2 for its second value, and so on."""
    seen, table = collections.Counter(), {}
    for key, value in pairs:
        seen[key] += 1
        table[*key, seen[key]] = value
    return table


def used(record, quantity, kind):
    """The raw values of a kind of run ("measured" or "overhead") that the aggregates use, or None."""
    if quantity[kind] is None:
        return None
    raw = quantity[kind]["raw"]
    conditions = record["conditions"][kind]
    if not conditions or not conditions["excluded"]:
        return raw
    left_out = {run["run"] for run in conditions["disturbed"]}
    return [value for number, value in enumerate(raw, 1) if number not in left_out] or raw


def net(quantity):
    """The raw values, each less the overhead that `net` leaves out."""
    less = quantity["measured"]["median"] - quantity["net"]
    return [value - less for value in quantity["measured"]["raw"]]


def disturbed(record):
    """How many measured runs were disturbed, and why, as text, or ""."""
    conditions = record["conditions"]["measured"]
    if not conditions or not conditions["disturbed"]:
        return ""
    runs = conditions["disturbed"]
    reasons = list(dict.fromkeys(reason for run in runs for reason in run["reasons"]))
    reasons[MOST_REASONS:] = ["..."] if len(reasons) > MOST_REASONS else []
    left_out = ", excluded" if conditions["excluded"] else ""
    return f"{len(runs)} of {record['runs']} runs disturbed{left_out} ({', '.join(reasons)})"


def deterministic(record):
    """Whether a second run of the same image must leave the same counts: emulation, with time made of instructions."""
    host = record["machine"].get("host")
    return isinstance(host, dict) and host.get("clock") == "virtual" and host.get("accel") == "tcg"


def clean(value):
    """The value, with a replacement character for each character that cannot be printed."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [clean(element) for element in value]
    if isinstance(value, dict):
        return {clean(key): clean(element) for key, element in value.items()}
    return value


def is_int(value):
    return type(value) is int and -1 << 63 <= value < 1 << 63


def _fault(record):
    """The name of the first member of a measurement that is wrong, or ""."""
    for name in TEXTS:
        if not isinstance(record.get(name), str) or not record[name]:
            return name
    if record.get("privilege") not in ("user", "system", "both"):
        return "privilege"
    if record.get("status") not in ("counted", "not counted", "not supported", "stuck"):
        return "status"
    if not _are(str, record.get("arguments")):
        return "arguments"
    for name in ("runs", "iterations"):
        if not is_int(record.get(name)) or record[name] < 1:
            return name
    if not isinstance(record.get("verified"), bool):
        return "verified"
    if not isinstance(record.get("machine"), dict):
        return "machine"
    for name in QUANTITIES:
        if not _is_quantity(record.get(name, False)):
            return name
    if (record["status"] == "counted") != (record["count"] is not None):
        return "count"
    conditions = record.get("conditions")
    if not isinstance(conditions, dict) or not all(_are_conditions(conditions.get(kind, False)) for kind in ("measured", "overhead")):
        return "conditions"
    return ""


def _are(kind, values):
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _is_quantity(value):
    match value:
        case None:
            return True
        case {"net": net, "measured": measured, "overhead": less} if is_int(net):
            return _is_series(measured) and (less is None or _is_series(less))
    return False


def _is_series(value):
    match value:
        case {"raw": [_, *_] as raw, "min": least, "median": median, "max": most}:
            return all(is_int(number) for number in (*raw, least, median, most))
    return False


def _are_conditions(value):
    match value:
        case None:
            return True
        case {"disturbed": list(runs), "excluded": excluded} if is_int(excluded):
            return all(isinstance(run, dict) and is_int(run.get("run")) and _are(str, run.get("reasons")) for run in runs)
    return False
