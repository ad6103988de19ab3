#!/usr/bin/env -S python3 -B
"""Write what the vendors of CPUs say of each event, from their own files: read.py PERFMON ARM_DATA TELEMETRY PERF_JSON

The first three are git repositories, bare or not: intel/perfmon, ARM-software/data, and Arm's telemetry-solution.
PERF_JSON has AMD's lists: x86 in the folder that `scripts/setup --perf-json` prints, of Linux 7.3.4.
The answers go to this folder: intel.txt, arm.txt, telemetry.txt, amd.txt.  tests/host/events/vendor_answers.c compares the
tables with them.  This program shares nothing with the generator of the tables: it knows the vendors' form alone, as the
README of each repository describes it.

A line `cpu KEY FILE VERSION PART...` names a file and the CPUs that it is for:
    Intel: family/model/stepping/core type/native model, as CPUID has them, without core type 0/0
    Arm:   implementer/part of MIDR_EL1
    AMD:   family/first-last, models as CPUID has them
A line `out COUNT FILE REASON` names a file whose entries are left out.
A line `NAME CODES PICS KEY...` is an event of these CPUs, all numbers in hexadecimal:
    CODES   Intel: the event select without levels and control bits, and `:MSR=VALUE` if it needs an extra MSR; several
            with commas if any of them counts the event.  AMD: the event select.  Arm: the event's number
    PICS    Intel: GENERAL:THREAD:FIXED:CODE, masks of PICs: the general ones, those of them that a hyperthread has, the
            fixed ones, and the general ones of all names with this code.  AMD, Arm: -
Without general PICs the fixed one counts the event, otherwise it may.
"""

import collections
import csv
import functools
import json
import operator
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# Bits of the event select.  Intel SDM vol. 3B, "Architectural Performance Monitoring Version 6" (EQ, UMASK2).
FLAGS = {"EdgeDetect": 18, "AnyThread": 21, "Invert": 23, "CounterMask": 24, "Equal": 36, "UMaskExt": 40}
# The event of fixed PIC n, and its code in perf: n + 1 as unit mask.  Same volume, "Fixed-Function Performance Counters".
ARCHITECTED = (0xC0, 0x3C, 0x300, 0x1A4, 0x73, 0x19C, 0x2C2)
FIXED = re.compile(r"fixed counter (\d+)", re.I)


class Source:
    def __init__(self, path, vendor, licence, revision):
        self.path, self.vendor, self.licence, self.revision = path, vendor, licence, revision

    def write(self, answers, cpus, events, out):
        """Write a file of answers: cpus are (key, file, version, parts), events facts by name by key, out (count, file, reason)."""
        shared = collections.defaultdict(list)
        for key, found in events.items():
            for name, facts in found.items():
                shared[name, facts].append(key)
        lines = [f"# {self.vendor}, revision {self.revision}, {self.licence}", "# Facts alone, written by tests/vendors/read.py."]
        lines += [" ".join(["cpu", *words, *parts]) for *words, parts in cpus]
        lines += [" ".join(["out", str(count), file, why]) for count, file, why in out]
        lines += [" ".join([name, facts, *keys]) for (name, facts), keys in sorted(shared.items())]
        (HERE / answers).write_text("\n".join(lines) + "\n")


class Repository(Source):
    def __init__(self, path, vendor, licence):
        super().__init__(path, vendor, licence, "")
        self.revision = self.git("rev-parse", "HEAD").strip()
        # Files alone, no symbolic links.
        self.files = [line.partition("\t")[2] for line in self.git("ls-tree", "-r", "HEAD").splitlines() if line.startswith("100")]

    def git(self, *words):
        return subprocess.run(["git", "-C", self.path, *words], check=True, capture_output=True).stdout.decode("utf-8-sig")

    def text(self, name):
        return self.git("show", f"HEAD:{name}").removeprefix("\ufeff")


def numbers(text):
    return [int(word, 0) for word in str(text).split(",")]


def intel_parts(words):
    """The CPUs of a line of mapfile.csv: GenuineIntel-FAMILY-MODEL-[STEPPINGS], and a hybrid part's type of core."""
    _, family, model, *steppings = words["Family-model"].split("-")
    core = int(words["Core Type"] or "0", 0), int(words["Native Model ID"] or "0", 0)
    for stepping in steppings[0].strip("[]") if steppings else "0":
        yield f"{int(family):x}/{int(model, 16):x}/{int(stepping, 16):x}/{core[0]:x}/{core[1]:x}"


def mask(event, field):
    return sum(1 << n for n in numbers(event[field]))


def intel_facts(event, fixed_base):
    """The codes of an event, and its masks of general PICs, of a hyperthread's, and of fixed PICs."""
    flags = sum(int(event.get(field) or "0", 0) << bit for field, bit in FLAGS.items())
    fixed = FIXED.match(event["Counter"].strip())
    if fixed:
        n = int(fixed[1]) - fixed_base
        return ((flags | n + 1 << 8,), (flags | ARCHITECTED[n],)), 0, 0, 1 << n
    codes, umasks, msrs = numbers(event["EventCode"]), numbers(event["UMask"]), numbers(event.get("MSRIndex") or "0")
    # The nth event or unit mask goes with the nth extra MSR.
    n = max(len(codes), len(umasks))
    selects = [flags | code | umask << 8 for code, umask in zip((codes * n)[:n], (umasks * n)[:n])]
    if msrs == [0x1A7] and n == 2:
        selects = selects[1:]
    value = int(event.get("MSRValue") or "0", 0)
    selects = [(select,) for select in selects] if msrs == [0] else [(*pair, value) for pair in zip(selects, msrs)]
    general = mask(event, "CounterHTOff" if event.get("CounterHTOff") else "Counter")
    return tuple(selects), general, mask(event, "Counter"), 0


def intel_lines(events):
    """The text of the facts: what other names of a file add to them is known now."""
    fixed = functools.reduce(operator.or_, (facts[3] for facts in events.values()))
    by_select = collections.Counter()
    for codes, general, *_ in events.values():
        by_select[codes[0][0]] |= general
    for name, (codes, general, thread, only) in events.items():
        too = only or sum(1 << n & fixed for n, code in enumerate(ARCHITECTED) if (code,) == codes[0])
        text = ",".join(f"{code[0]:x}" + (f":{code[1]:x}={code[2]:x}" if code[1:] else "") for code in codes)
        yield name, f"{text} {general:x}:{thread:x}:{too:x}:{by_select[codes[0][0]]:x}"


# Kinds of files in mapfile.csv that list no event of a core's PIC, and why.
INTEL_OUT = {
    "uncore": "counters outside of the cores",
    "uncore experimental": "counters outside of the cores",
    "offcore": "parts of an extra MSR's value, without names of events",
    "fp_arith_inst": "parts of a unit mask, without names of events",
    "metrics": "formulas",
    "retire latency": "measurements",
}


def read_intel(repo):
    cpus, events, parts, out = [], {}, collections.defaultdict(list), {}
    for words in csv.DictReader(repo.text("mapfile.csv").splitlines()):
        file = words["Filename"].lstrip("/")
        if words["EventType"] in ("core", "hybridcore"):
            parts[file] += intel_parts(words)
        elif file not in out:
            listed = json.loads(repo.text(file)) if file in repo.files else []
            rows = next((listed[k] for k in ("Events", "Metrics", "Data") if k in listed), listed)
            out[file] = len(rows), file, INTEL_OUT[words["EventType"]]
    for file, known in parts.items():
        listed = json.loads(repo.text(file))
        folder, name = file.split("/")[0], pathlib.Path(file).stem
        kind = name.split("_")[1:-1]
        key = "_".join([folder, *kind]).lower()
        cpus.append((key, file, listed["Header"]["Version"], known))
        # Files of the first CPUs count fixed PICs from 1.
        first = [e["Counter"] for e in listed["Events"] if e["EventName"] == "INST_RETIRED.ANY"]
        base = int(FIXED.match(first[0])[1]) if first and FIXED.match(first[0]) else 0
        events[key] = dict(intel_lines({e["EventName"]: intel_facts(e, base) for e in listed["Events"]}))
    repo.write("intel.txt", cpus, events, out.values())


def read_arm(repo):
    cpus, events, out = [], {}, []
    for file in repo.files:
        if not file.startswith("pmu/") or "schema" in file:
            continue
        listed = json.loads(repo.text(file))
        if listed.get("pmu_architecture") != "pmuv3" or "cpuid" not in listed:
            why = "no PMUv3: an Arm core of 32 bits" if "cpuid" in listed else "no CPU's file"
            out.append((len(listed["events"]), file, why))
            continue
        key = pathlib.Path(file).stem
        cpuid = int(listed["cpuid"], 0)
        cpus.append((key, file, "-", [f"{cpuid >> 12:x}/{cpuid & 0xfff:x}"]))
        # An event without a number goes to a trace unit alone.
        unnamed = sum(1 for e in listed["events"] if "name" not in e or "code" not in e)
        if unnamed:
            out.append((unnamed, file, "events without a name or without a number"))
        events[key] = {e["name"]: f"{e['code']:x} -" for e in listed["events"] if "name" in e and "code" in e}
    repo.write("arm.txt", cpus, events, out)


def read_telemetry(repo):
    cpus, events, out = [], {}, []
    for file in repo.files:
        if not re.match(r"data/pmu/cpu/.*\.json$", file):
            continue
        listed = json.loads(repo.text(file))
        product, key = listed["product_configuration"], pathlib.Path(file).stem.removesuffix("-pmu")
        version = f"r{product['major_revision']}p{product['minor_revision']}"
        cpus.append((key, file, version, [f"{int(product['implementer'], 0):x}/{int(product['part_num'], 0):x}"]))
        events[key] = {name: f"{int(e['code'], 0):x} -" for name, e in listed["events"].items() if "PMU" in e["accesses"]}
        if len(events[key]) < len(listed["events"]):
            out.append((len(listed["events"]) - len(events[key]), file, "events of the trace unit alone"))
    repo.write("telemetry.txt", cpus, events, out)


def amd_select(event):
    """An event select: PERF_CTL.  AMD64 APM vol. 2, "Performance Event-Select Registers": event 11:8 is in bits 35:32."""
    number = {field: int(event.get(field, "0"), 0) for field in ("EventCode", "UMask", *FLAGS)}
    flags = sum(number[field] << FLAGS[field] for field in ("EdgeDetect", "Invert", "CounterMask"))
    return number["EventCode"] % 256 | number["UMask"] << 8 | flags | number["EventCode"] // 256 << 32


def read_amd(folder):
    cpus, events, out, had = [], {}, [], collections.defaultdict(set)
    for line in (folder / "mapfile.csv").read_text().splitlines():
        cpu, version, key, _ = (line + ",,,").split(",")[:4]
        vendor, family, pattern = (cpu + "--").split("-", 2)
        if vendor != "AuthenticAMD":
            continue
        # The first line that matches is a model's.
        pattern = pattern.rstrip("-").replace("[:xdigit:]", "0-9A-F")
        models = [m for m in range(256) if re.fullmatch(pattern, f"{m:X}") and m not in had[family]]
        had[family].update(models)
        ends = [m for m in models if m + 1 not in models]
        parts = [f"{int(family):x}/{first:x}-{last:x}" for first, last in zip((m for m in models if m - 1 not in models), ends)]
        cpus.append((key, key, version, parts))
        listed = [e for path in sorted((folder / key).glob("*.json")) for e in json.loads(path.read_text())]
        core = [e for e in listed if "EventName" in e and "Unit" not in e]
        out.append((len(listed) - len(core), key, "formulas, and counters outside of the cores"))
        events[key] = {e["EventName"]: f"{amd_select(e):x} -" for e in core}
    Source(folder, "Linux's perf JSON", "GPL-2.0", "7.3.4").write("amd.txt", cpus, events, out)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    read_intel(Repository(sys.argv[1], "intel/perfmon", "BSD-3-Clause, Copyright (c) Intel Corporation"))
    read_arm(Repository(sys.argv[2], "ARM-software/data", "Apache-2.0, Copyright (C) ARM Ltd."))
    read_telemetry(Repository(sys.argv[3], "xinydev/telemetry-solution", "Apache-2.0, Copyright Arm Ltd."))
    read_amd(pathlib.Path(sys.argv[4]))


if __name__ == "__main__":
    main()
