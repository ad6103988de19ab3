#!/usr/bin/env -S PYTHONPATH=events/vendors:tests/cli/lib python3 -B
"""events/vendors/arm.py takes from the vendors' lists what a PMU counts, and nothing else.

The lists are made up.  Each has what the real ones have: ARM-software/data an event without a name, and a second name;
Arm's telemetry events for the trace unit alone; those for perf standard events, metrics, and events that are not a core's.
"""

import json
import pathlib
import subprocess
import tempfile

import tap
import arm

DATA = {
    "cpuid": "0x41d99", "timestamp": "Mon Mar 18 17:07:47 2024", "counters": 20,
    "events": [
        {"code": 8, "name": "INST_RETIRED"},
        {"code": 0x60, "name": "BUS_ACCESS_RD", "trm_name": "BUS_ACCESS_LD"},
        {"code": 0xC0},
        {"code": 0x400D, "name": "PMU_OVFS"},
    ],
}
TELEMETRY = {
    "product_configuration": {"implementer": "0x41", "part_num": "0xd99"},
    "document": {"timestamp": "09 Sep 13:13:32 2025"},
    "events": {
        "INST_RETIRED": {"code": "0x0008", "accesses": ["PMU", "ETE"]},
        "IMP_FLUSH": {"code": "0x0120", "accesses": ["PMU"]},
        "PMU_OVFS": {"code": "0x400D", "accesses": ["ETE"]},
    },
}
PERF = {
    "mapfile.csv": "# MIDR\n0x00000000420f5160,v1,maker/cpu,core\n0x00000000430f0af0,v1,maker/cpu,core\n",
    "common.json": [{"EventCode": "0x11", "EventName": "CPU_CYCLES"}, {"MetricName": "backend_bound", "MetricExpr": "1"}],
    "maker/cpu/core.json": [
        {"ArchStdEvent": "CPU_CYCLES"},
        {"ArchStdEvent": "BACKEND_BOUND"},
        {"MetricName": "ipc", "MetricExpr": "1"},
        {"EventCode": "0x0190", "EventName": "Wait_Cycles"},
        {"EventCode": "0x02", "EventName": "rd_hit", "Unit": "l3c"},
    ],
}


def write(folder, files):
    """Write files to a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def commit(folder, files):
    """Write files to a new repository."""
    write(folder, files)
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Add lists"]):
        subprocess.run([*git, *command], check=True)
    return folder


def names(lists):
    """The names and codes of the facts of lists."""
    return {fact.name: fact.selects for fact in arm.merged("arm_x", lists)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        data = arm.Data(commit(work / "data", {"pmu/cpu.json": DATA}), "L", "https://a/data").list("cpu")
        telemetry = commit(work / "telemetry", {"data/pmu/cpu/cpu.json": TELEMETRY})
        telemetry = arm.Telemetry(telemetry, "L", "https://a/telemetry").list("cpu")
        perf = arm.Perf(write(work / "perf", PERF), "7.3").list("maker/cpu")

    two = {"INST_RETIRED": (8,), "BUS_ACCESS_RD": (0x60,), "BUS_ACCESS_LD": (0x60,)}
    tap.equal("ARM-software/data: each name and second name, and no event without one",
              (names([data]), *data[2:]), (two | {"PMU_OVFS": (0x400D,)}, [0x41D99], "2024-03-18", 20))
    tap.equal("telemetry: an event that the trace unit alone sees is not one of the PMU, though another list has it",
              (names([telemetry, data]), *telemetry[2:]), (two | {"IMP_FLUSH": (0x120,)}, [0x41D99], "2025-09-09", None))
    tap.equal("perf: standard events with their codes, and no metric and no event of another unit",
              (names([perf]), perf.ids), ({"CPU_CYCLES": (0x11,), "WAIT_CYCLES": (0x190,)}, [0x42516, 0x430AF]))
    try:
        names([data, data._replace(path="other", events=[("INST_RETIRED", 9)])])
        said = "nothing"
    except SystemExit as error:
        said = str(error)
    tap.equal("a name with two codes is an error that names both lists",
              said, "arm_x: INST_RETIRED: 8 in pmu/cpu.json, 9 in other: let arm.py decide")
    tap.end()


main()
