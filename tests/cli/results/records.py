#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The records are as in docs/record.schema.json, and the table can be made from them."""
import copy
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import schema
from tap import check, end, equal

ROOT = pathlib.Path(__file__).resolve().parents[3]


def run(*words):
    """Standard output and the records of a run."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.jsonl"
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", "arm64", "--accel", "tcg",
                               "--results", results, *words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        lines = results.read_text().splitlines() if results.exists() else []
    if not lines:
        print(f"Bail out! {' '.join(words)}: no record; {done.stderr.splitlines()[-1:]}")
        sys.exit(1)
    return done.stdout, [json.loads(line) for line in lines]


def changed(record, path, value):
    """The record with another value at a path, or without that member if the value is ...."""
    made = copy.deepcopy(record)
    *parents, last = path
    at = made
    for name in parents:
        at = at[name]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return made


def median(values):
    return sorted(values)[(len(values) - 1) // 2]


def ratio(value, divisor):
    milli = (abs(value) * 1000 + divisor // 2) // divisor
    return f"{'-' if value < 0 and milli else ''}{milli // 1000}.{milli % 1000:03}"


def row(record):
    """The table's row, as the benchmark prints it."""
    suffix = {"user": "u", "system": "k", "both": "uk"}[record["privilege"]]
    head = [record["label"], f"{record['event']}:{suffix}"]
    hrtime = str(record["hrtime_ns"]["net"]) if record["hrtime_ns"] else "-"
    if record["status"] != "counted":
        return [*head, f"<{record['status']}>", "-", "-", hrtime, "-", "-"]
    count = record["count"]
    overhead = str(count["overhead"]["median"]) if count["overhead"] else "-"
    return [*head, str(count["net"]), ratio(count["net"], record["iterations"]), str(record["tick"]["net"]), hrtime,
            str(count["measured"]["range"]), overhead]


def series_wrong(series, runs):
    raw = series["raw"]
    inner = sorted(raw)[len(raw) // 5:len(raw) - len(raw) // 5]
    sums = {"min": min(raw), "median": median(raw), "max": max(raw), "range": max(raw) - min(raw),
            "negative": sum(v < 0 for v in raw), "at_minimum": round(raw.count(min(raw)) / len(raw), 3),
            "mean": float(ratio(sum(raw), len(raw))), "trimmed_mean": float(ratio(sum(inner), len(inner)))}
    error = statistics.stdev(raw) / len(raw) ** 0.5 if len(raw) > 1 else 0
    return len(raw) != runs or abs(series["standard_error"] - error) > 0.001 or any(series[key] != value for key, value in sums.items())


def quantity_wrong(quantity, runs):
    if quantity is None:
        return False
    overhead = quantity["overhead"]
    less = overhead["median"] if overhead else 0
    return (series_wrong(quantity["measured"], runs) or (overhead is not None and series_wrong(overhead, runs)) or
            quantity["net"] != quantity["measured"]["median"] - less)


def rows(out):
    """The table's rows as lists of cells; `<not supported>` is one cell."""
    lines = [line for line in out.splitlines() if line and not line.startswith(("#", "payload "))]
    return [re.findall(r"<[^>]*>|\S+", line) for line in lines]


out, records = run()
check("every record of the suite is as the schema has it", schema.faults(records))
for path, value in ((["other"], 1), (["machine", "other"], 1), (["runs"], "1"), (["count", "measured", "raw"], []), (["machine", "pics"], ...),
                    (["status"], "not counted"), (["payload"], "barecpc"), (["schema"], 2), (["conditions", "measured", "smis"], [0.5])):
    equal(f"the schema refuses {'.'.join(path)}: {value}", len(schema.faults([changed(records[0], path, value)])), 1)
costs = [r["read_cost"] for r in records]
check("the cost of a read is recorded, the same in each record", [] if costs == [costs[0]] * len(costs) else [str(costs)])
cost = costs[0]
check("it is exact: at the program's privilege in place, at the kernel's too by call", [] if (
    cost["event"] == "PAPI_tot_ins" and {part["range"] for way in ("in_place", "by_call") for part in cost[way].values()} == {0} and
    cost["in_place"]["system"]["min"] == 0 and cost["in_place"]["user"]["min"] > cost["by_call"]["user"]["min"] > 0 and
    cost["by_call"]["system"]["min"] > cost["in_place"]["user"]["min"]) else [str(cost)])
check("the emulator is named, as run says", sorted({r["machine"]["vmm"] for r in records} - {"tcg"}))
check("aggregates are those of the raw values", [
    f"{r['label']} {r['event']}: {key}" for r in records for key in ("count", "tick", "hrtime_ns")
    if quantity_wrong(r[key], r["runs"])])
check("every result was verified", [r["label"] for r in records if r["verified"] is not True])
check("the table can be made from the records", [
    f"{made} not {printed}" for made, printed in zip(map(row, records), rows(out)) if made != printed] +
    ([] if len(records) == len(rows(out)) else ["not as many rows as records"]))

out, records = run("--", "triad", "-n", "-r", "4", "-w", "0", "-e", "no_such,PAPI_tot_ins:uk", "100")
check("no titles with -n", [line for line in out.splitlines() if line.startswith("payload ")])
check("an unknown event is not supported, and the reason comes once", [] if [
    (r["status"], r.get("reason")) for r in records] == [
        ("not supported", "no_such: Unknown event: no table of events exists for this CPU (implementer 0, part 0x51): "
         "raw codes (r1c0, 0x1c0) and architected events work, `list' prints them"), ("counted", None)] and out.count("Unknown event") == 1 else [out])
check("arguments are recorded as given", [
    str(r["arguments"]) for r in records
    if r["arguments"] != ["-n", "-r", "4", "-w", "0", "-e", "no_such,PAPI_tot_ins:uk", "100"] or
    (r["runs"], r["warm_ups"]) != (4, 0)])
end()
