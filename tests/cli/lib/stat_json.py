"""Checks what stat prints with -j, and its records.  tests/cli/tools/stat.sh and stat_program.sh run it.

    stat_json.py lines TEXT
    stat_json.py times TEXT
    stat_json.py utilized TEXT RECORDS
    stat_json.py runs RECORDS
"""
import json
import sys


def objects(path):
    return [json.loads(line) for line in open(path) if line.startswith("{")]


def lines(path):
    """Every line is an object of JSON."""
    found = [json.loads(line) for line in open(path)]
    assert any("note" in line for line in found) and any("counter-value" in line for line in found), found


def times(path):
    """Each event was counted as long as task-clock says."""
    parts = {}
    for line in objects(path):
        parts.setdefault((line.get("interval"), line.get("thread")), []).append(line)
    assert len(parts) > 1
    for part in parts.values():
        [clock] = [round(1e6 * float(line["counter-value"])) for line in part if line["event"] == "task-clock"]
        assert clock > 0 and [line["event-runtime"] for line in part] == len(part) * [clock], part


def utilized(path, records):
    """CPUs utilized is the time on CPUs by the elapsed time of the same runs."""
    [printed] = [float(line["metric-value"]) for line in objects(path) if line.get("metric-unit") == "CPUs utilized"]
    [record] = [record for record in objects(records) if record.get("event") == "task-clock"]
    wanted = record["count"]["net"] / record["hrtime_ns"]["net"]
    assert abs(printed - wanted) < 1e-6, f"{printed}, not {wanted}"


def runs(path):
    """The record has 1,000 runs."""
    [record] = objects(path)
    assert len(record["count"]["measured"]["raw"]) == 1000


{"lines": lines, "times": times, "utilized": utilized, "runs": runs}[sys.argv[1]](*sys.argv[2:])
