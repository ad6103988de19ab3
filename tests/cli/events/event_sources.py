#!/usr/bin/env -S PYTHONPATH=events/mktables python3 -B
"""Compare names of events with their sources: event_sources.py json FOLDER CPU..., random FOLDER N SEED, libpfm4 FILE,
newer FOLDER FILE CPU...

The names and codes of the JSON in FOLDER are read here as perf reads them, without the generator of the tables.  FILE has
the output of events/mktables/file/codes.c.  events/generated/disagreements.md says which source decides.
"""

import json
import pathlib
import random
import subprocess
import sys

import perf_json

TOP = pathlib.Path(__file__).resolve().parents[3]

# Bits of perf's terms: /sys/bus/event_source/devices/cpu/format.
TERMS = {"umask": 8, "edge": 18, "any": 21, "inv": 23, "cmask": 24}
FIELDS = {"umask": "UMask", "edge": "EdgeDetect", "any": "AnyThread", "inv": "Invert", "cmask": "CounterMask"}
# perf replaces the codes of these names (tools/perf/pmu-events/jevents.py, real_event()).
REPLACED = {
    "inst_retired.any": 0xC0,
    "inst_retired.any_p": 0xC0,
    "cpu_clk_unhalted.ref": 0x300,
    "cpu_clk_unhalted.thread": 0x3C,
    "cpu_clk_unhalted.core": 0x3C,
    "cpu_clk_unhalted.thread_any": 0x20003C,
}
X86_CONTROL = 0x530000
ARM_EVENT = 0xFFFF


def first(text):
    """The first of several numbers."""
    return int(str(text).split(",", maxsplit=1)[0], 0)


def code(event, vendor):
    """perf's code of an event, and the value of the extra MSR."""
    number = first(event.get("ConfigCode", event.get("EventCode", "0")))
    if vendor == "arm":
        return number, 0
    config = number & 0xFF | (number >> 8) << 32
    for term, low in TERMS.items():
        config |= first(event.get(FIELDS[term], "0")) << low
    if vendor == "intel":
        config = REPLACED.get(event["EventName"].lower(), config)
    return config, first(event.get("MSRValue", "0")) if "MSRIndex" in event else 0


def read_json(folder, cpu):
    """The events of a CPU: their codes by name."""
    for vendor, (arch, pmus) in perf_json.VENDORS.items():
        for name, _, path, unit, *_ in pmus:
            if name != cpu:
                continue
            if not path:
                return {}
            top = pathlib.Path(folder) / arch
            common = {e["EventName"]: e for f in top.glob("*.json") for e in json.loads(f.read_text()) if "EventName" in e}
            found = {}
            for file in (top / path).glob("*.json"):
                if file.name == "metricgroups.json":
                    continue
                for event in json.loads(file.read_text()):
                    event = {**common.get(event.get("ArchStdEvent"), {}), **event}
                    if "EventName" in event and event.get("Unit", "") == unit:
                        found[event["EventName"]] = code(event, vendor)
            return found
    sys.exit(f"{cpu}: not a CPU of the JSON")


def is_arm(cpu):
    """Does the CPU have Arm's PMU?"""
    return cpu.startswith("arm_")


def disagreements():
    """The report: for a CPU and an event the code that counts, or None if the name is refused."""
    found = {}
    for line in (TOP / "events/generated/disagreements.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 7 or cells[0] in ("event", "---"):
            continue
        event, cpus, libpfm4, _, listed, decision, _ = cells
        chosen = {"libpfm4": libpfm4, "JSON": listed, "refused": None}[decision]
        value = chosen and tuple(int(n, 0) for n in (chosen.split(" + ") + ["0"])[:2])
        for cpu in cpus.split():
            found[cpu, event.replace(":", ".").upper()] = value
    return found


def encode(cpu, names):
    """Our codes of names: code, value of the extra MSR, full name; or None."""
    tool = [str(TOP / "build/host/encode"), "--cpu", cpu, "--", *names]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    refused = {line.split(": ")[1] for line in done.stderr.splitlines() if line.startswith("encode: ")}
    lines = iter(done.stdout.splitlines())
    mask = ARM_EVENT if is_arm(cpu) else ~X86_CONTROL
    found = {}
    for name in names:
        if name in refused:
            found[name] = None
            continue
        words = next(lines).split()
        extra = int(words[1].partition("=")[2], 0) if "=0x" in words[1] else 0
        full = ":".join(part for part in words[-1].partition("::")[2].split(":") if "=" not in part)
        found[name] = int(words[0], 0) & mask, extra, full
    return found


def listed(cpu):
    """The names that `list` prints, with dots."""
    done = subprocess.run([str(TOP / "build/host/list"), "--cpu", cpu], capture_output=True, text=True, check=False)
    return {line.split()[0].replace(":", ".").upper() for line in done.stdout.splitlines()}


def compare(cpu, wanted, decided):
    """Compare the codes of names.  Returns how many are wrong."""
    wrong = 0
    ours = encode(cpu, list(wanted))
    for name, want in wanted.items():
        want = decided.get((cpu, name.replace(":", ".").upper()), want)
        if ours[name] and ours[name][:2] != want and ours[name][2] != name:
            # A name without a unit mask has the code of the default unit mask.
            want = decided.get((cpu, ours[name][2].replace(":", ".").upper()), wanted.get(ours[name][2], want))
        if (ours[name] and ours[name][:2]) != want:
            print(f"{cpu}: {name} is {ours[name]}, not {want}")
            wrong += 1
    return wrong


def spelled(name):
    """A name as `list` has it: event, unit mask."""
    event, _, umask = name.upper().partition(".")
    return event + ("." + umask.replace(".", "_") if umask else "")


def check_json(folder, *cpus):
    """Every name of the JSON for these CPUs."""
    decided, wrong, names = disagreements(), 0, 0
    for cpu in cpus:
        wanted = read_json(folder, cpu)
        names += len(wanted)
        wrong += compare(cpu, wanted, decided)
        wrong += compare(cpu, {n.lower(): want for n, want in wanted.items()}, decided)
        refused = {event for (pmu, event), value in decided.items() if pmu == cpu and value is None}
        missing = {spelled(n) for n in wanted if n.upper() not in refused} - listed(cpu)
        for name in sorted(missing):
            print(f"{cpu}: {name} is not listed")
        wrong += len(missing)
    print(f"{names} names of {len(cpus)} CPUs")
    return wrong


def check_random(folder, number, seed):
    """Names drawn at random over all CPUs of the JSON."""
    drawn = random.Random(int(seed))
    cpus = [pmu[0] for _, pmus in perf_json.VENDORS.values() for pmu in pmus]
    everything = [(cpu, name, want) for cpu in cpus for name, want in sorted(read_json(folder, cpu).items())]
    chosen = {}
    for cpu, name, want in drawn.sample(everything, int(number)):
        chosen.setdefault(cpu, {})[name] = want
    print(f"{number} of {len(everything)} names, on {len(chosen)} of {len(cpus)} CPUs")
    decided = disagreements()
    return sum(compare(cpu, wanted, decided) for cpu, wanted in chosen.items())


def check_libpfm4(file):
    """Every name that libpfm4 has for the CPUs in the file."""
    decided, cpus = disagreements(), {}
    for line in pathlib.Path(file).read_text().splitlines():
        cpu, name, select, extra = line.split()
        mask = ARM_EVENT if is_arm(cpu) else ~X86_CONTROL
        cpus.setdefault(cpu, {})[name] = int(select, 0) & mask, int(extra, 0)
    print(f"{sum(map(len, cpus.values()))} names of {len(cpus)} CPUs")
    return sum(compare(cpu, wanted, decided) for cpu, wanted in cpus.items())


def check_newer(folder, file, *cpus):
    """Every name that only the newer libpfm4 has for these CPUs: its code counts, and `list` prints it."""
    wrong, names, found = 0, 0, {}
    for line in pathlib.Path(file).read_text().splitlines():
        cpu, name, select, extra = line.split()
        mask = ARM_EVENT if is_arm(cpu) else ~X86_CONTROL
        if cpu in cpus:
            found.setdefault(cpu, {})[name] = int(select, 0) & mask, int(extra, 0)
    for cpu, codes in found.items():
        known = {spelled(name) for name in read_json(folder, cpu)}
        # An event alone means its default unit mask.  No PIC counts the parts of PERF_METRICS: TOPDOWN_M, and 8000H.
        wanted = {
            name: code
            for name, code in codes.items()
            if not any(other.startswith(name + ":") for other in codes)
            and name.replace(":", ".").upper() not in known
            and not name.startswith("TOPDOWN_M:")
            and code != (0x8000, 0)
        }
        names += len(wanted)
        wrong += compare(cpu, wanted, {})
        for name in sorted({name.replace(":", ".").upper() for name in wanted} - listed(cpu)):
            print(f"{cpu}: {name} is not listed")
            wrong += 1
    print(f"{names} names of {len(found)} CPUs")
    return wrong


COMMANDS = {"json": check_json, "random": check_random, "libpfm4": check_libpfm4, "newer": check_newer}
if __name__ == "__main__":
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]) != 0)
