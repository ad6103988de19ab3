#!/usr/bin/env python3
"""Read the events of Linux's perf JSON, for scripts/mkevents.

    perf_json.py events VENDOR FOLDER DECISIONS NEWER CODES    print the events of a vendor's CPUs
    perf_json.py report LINES FOLDER DECISIONS NEWER...        print events/generated/disagreements.md

FOLDER is tools/perf/pmu-events/arch of Linux's source.  DECISIONS is decisions.txt.  NEWER and CODES have the output of
file/codes.c for the newer libpfm4 and for 4.13.  LINES are those of json.c about disagreements.  Names that only the
newer libpfm4 has are printed, too.  The events are printed as a line for each PMU and each event, with tabs:

    P  NAME  BASE  DESCRIPTION  PICS  FIXED PICS  FAMILY  SOURCES  MODELS
    E  EVENT  UNIT MASK  SELECT  EXTRA MSR  ITS VALUE  PICS  DECISION

Numbers are hexadecimal.  BASE is libpfm4's PMU whose table the PMU shares, or `-`.  SOURCES is `j` for the JSON, `n` for
the newer libpfm4, or both.  SELECT has the bits of the name.
PICS is 0 if every general PIC counts the event.
"""

import csv
import fnmatch
import json
import pathlib
import re
import sys

# Our name, libpfm4's PMU (see above), folder, unit, description, PICs, fixed PICs; 0: libpfm4's are right.
INTEL = [
    ("atom", "atom", "bonnell", "", "", 0, 0),
    ("nhm", "nhm", "nehalemep", "", "", 0, 0),
    ("nhm_ex", "nhm_ex", "nehalemex", "", "", 0, 0),
    ("wsm", "wsm", "westmereep-sp", "", "", 0, 0),
    ("wsm_dp", "wsm_dp", "westmereep-dp", "", "", 0, 0),
    ("wsm_ex", "wsm_dp", "westmereex", "", "Intel Westmere EX", 4, 3),
    ("snb", "snb", "sandybridge", "", "", 0, 0),
    ("snb_ep", "snb_ep", "jaketown", "", "", 0, 0),
    ("ivb", "ivb", "ivybridge", "", "", 0, 0),
    ("ivb_ep", "ivb_ep", "ivytown", "", "", 0, 0),
    ("hsw", "hsw", "haswell", "", "", 0, 0),
    ("hsw_ep", "hsw_ep", "haswellx", "", "", 0, 0),
    ("bdw", "bdw", "broadwell", "", "", 0, 0),
    ("bdw_ep", "bdw_ep", "broadwellx", "", "", 0, 0),
    ("bdw_de", "bdw_ep", "broadwellde", "", "Intel Broadwell DE", 8, 3),
    ("skl", "skl", "skylake", "", "", 0, 0),
    ("skx", "skx", "skylakex", "", "", 0, 0),
    ("clx", "clx", "cascadelakex", "", "", 0, 0),
    ("icl", "icl", "icelake", "", "", 8, 4),
    ("icx", "icx", "icelakex", "", "", 8, 4),
    ("spr", "spr", "sapphirerapids", "", "", 8, 4),
    ("slm", "slm", "silvermont", "", "", 2, 3),
    ("glm", "glm", "goldmont", "", "", 0, 0),
    ("tmt", "tmt", "snowridgex", "", "", 0, 0),
    ("knl", "knl", "knightslanding", "", "", 0, 0),
    ("knm", "knm", "knightslanding", "", "", 0, 0),
    ("tgl", "icl", "tigerlake", "", "Intel Tiger Lake", 8, 4),
    ("rkl", "icl", "rocketlake", "", "Intel Rocket Lake", 8, 4),
    ("emr", "spr", "emeraldrapids", "", "Intel Emerald Rapids", 8, 4),
    ("glp", "glm", "goldmontplus", "", "Intel Goldmont Plus", 4, 3),
    ("ehl", "tmt", "elkhartlake", "", "Intel Elkhart Lake", 4, 3),
    ("adl_glc", "-", "alderlake", "cpu_core", "Intel Alder Lake P-core", 8, 4),
    ("adl_grt", "-", "alderlake", "cpu_atom", "Intel Alder Lake E-core", 6, 3),
    ("adl_n", "-", "alderlaken", "", "Intel Alder Lake-N", 6, 3),
    ("mtl_rwc", "-", "meteorlake", "cpu_core", "Intel Meteor Lake P-core", 8, 4),
    ("mtl_cmt", "-", "meteorlake", "cpu_atom", "Intel Meteor Lake E-core", 8, 3),
    ("lnl_lnc", "-", "lunarlake", "cpu_core", "Intel Lunar Lake P-core", 10, 4),
    ("lnl_skt", "-", "lunarlake", "cpu_atom", "Intel Lunar Lake E-core", 8, 3),
    ("gnr", "-", "graniterapids", "", "Intel Granite Rapids", 8, 4),
    ("srf", "-", "sierraforest", "", "Intel Sierra Forest", 8, 3),
    ("grr", "-", "grandridge", "", "Intel Grand Ridge", 8, 3),
]
AMD = [
    ("amd64_fam17h_zen1", "amd64_fam17h_zen1", "amdzen1", "", "", 0, 0),
    ("amd64_fam17h_zen2", "amd64_fam17h_zen2", "amdzen2", "", "", 0, 0),
    ("amd64_fam19h_zen3", "amd64_fam19h_zen3", "amdzen3", "", "", 0, 0),
    ("amd64_fam19h_zen4", "amd64_fam19h_zen4", "amdzen4", "", "", 0, 0),
    ("amd64_fam1ah_zen5", "-", "amdzen5", "", "AMD64 Fam1Ah Zen5", 6, 0),
]
ARM = [
    ("arm_ac53", "arm_ac53", "arm/cortex-a53", "", "", 0, 0),
    ("arm_ac57", "arm_ac57", "arm/cortex-a57-a72", "", "", 0, 0),
    ("arm_n1", "arm_n1", "arm/neoverse-n1", "", "", 0, 0),
    ("arm_v1", "arm_v1", "arm/neoverse-v1", "", "", 0, 0),
    ("arm_n2", "arm_n2", "arm/neoverse-n2-v2", "", "", 0, 0),
    ("arm_v2", "arm_v2", "arm/neoverse-n2-v2", "", "", 0, 0),
    ("arm_thunderx2", "arm_thunderx2", "cavium/thunderx2", "", "", 0, 0),
    ("arm_a64fx", "arm_a64fx", "fujitsu/a64fx", "", "", 0, 0),
    ("arm_kunpeng", "arm_kunpeng", "hisilicon/hip08", "", "", 0, 0),
    ("arm_xgene", "arm_xgene", "ampere/emag", "", "", 0, 0),
    ("arm_ac34", "-", "arm/cortex-a34", "", "ARM Cortex A34", 6, 0),
    ("arm_ac35", "-", "arm/cortex-a35", "", "ARM Cortex A35", 6, 0),
    ("arm_ac55", "-", "arm/cortex-a55", "", "ARM Cortex A55", 6, 0),
    ("arm_ac510", "-", "arm/cortex-a510", "", "ARM Cortex A510", 6, 0),
    ("arm_ac65", "-", "arm/cortex-a65-e1", "", "ARM Cortex A65", 6, 0),
    ("arm_e1", "-", "arm/cortex-a65-e1", "", "ARM Neoverse E1", 6, 0),
    ("arm_ac72", "-", "arm/cortex-a57-a72", "", "ARM Cortex A72", 6, 0),
    ("arm_ac73", "-", "arm/cortex-a73", "", "ARM Cortex A73", 6, 0),
    ("arm_ac75", "-", "arm/cortex-a75", "", "ARM Cortex A75", 6, 0),
    ("arm_ac76", "-", "arm/cortex-a76", "", "ARM Cortex A76", 6, 0),
    ("arm_ac77", "-", "arm/cortex-a77", "", "ARM Cortex A77", 6, 0),
    ("arm_ac78", "-", "arm/cortex-a78", "", "ARM Cortex A78", 6, 0),
    ("arm_ac710", "-", "arm/cortex-a710", "", "ARM Cortex A710", 6, 0),
    ("arm_x1", "-", "arm/cortex-x1", "", "ARM Cortex X1", 6, 0),
    ("arm_x2", "-", "arm/cortex-x2", "", "ARM Cortex X2", 6, 0),
    ("arm_n3", "-", "", "", "Arm Neoverse N3", 6, 0),
    ("arm_v3", "-", "", "", "Arm Neoverse V3", 6, 0),
    ("arm_monaka", "-", "", "", "Fujitsu MONAKA", 8, 0),
    ("arm_ampereone", "-", "ampere/ampereone", "", "AmpereOne", 6, 0),
    ("arm_ampereonex", "-", "ampere/ampereonex", "", "AmpereOneX", 6, 0),
]
VENDORS = {"intel": ("x86", INTEL), "amd": ("x86", AMD), "arm": ("arm64", ARM)}

# perf's names of fixed PICs' events, and the codes that it gives them (tools/perf/pmu-events/jevents.py).
FIXED = {
    "INST_RETIRED.ANY": 0xC0,
    "INST_RETIRED.ANY_P": 0xC0,
    "CPU_CLK_UNHALTED.REF": 0x300,
    "CPU_CLK_UNHALTED.THREAD": 0x3C,
    "CPU_CLK_UNHALTED.CORE": 0x3C,
    "CPU_CLK_UNHALTED.THREAD_ANY": 0x3C | 1 << 21,
}
# The extra MSRs, as in enum event_extra.
MSRS = {0x1A6: 1, 0x1A7: 2, 0x3F6: 3, 0x3F7: 4}
FIRST_FIXED = 32


def number(entry, key):
    """The first number of a field."""
    return int(entry.get(key, "0").split(",")[0], 0)


def counters(entry):
    """The PICs of an entry, or 0 if it does not say.  Some lists count fixed PICs from 1, so the unit mask decides."""
    text = entry.get("Counter", "")
    numbers = [int(n) for n in set(re.findall(r"\d+", text))]
    if "ixed" in text:
        return 1 << FIRST_FIXED + (number(entry, "UMask") or numbers[0]) - 1
    return sum(1 << n for n in numbers)


def select(entry, vendor):
    """The bits of an event's name in the event select, or in PMEVTYPER."""
    name = entry["EventName"].upper()
    if "ConfigCode" in entry:
        return number(entry, "ConfigCode")
    event = number(entry, "EventCode")
    if vendor == "arm":
        return event
    if vendor == "intel" and name in FIXED and (FIXED[name] & 0xFF or "ixed" in entry["Counter"]):
        return FIXED[name]
    return (
        event & 0xFF | event >> 8 << 32 | number(entry, "UMask") << 8 | number(entry, "EdgeDetect") << 18
        | number(entry, "AnyThread") << 21 | number(entry, "Invert") << 23 | number(entry, "CounterMask") << 24
    )


def entries(folder, unit, standard):
    """The events of a folder that a core's PMU counts, by name."""
    found = {}
    for path in sorted(folder.glob("*.json")) if folder else []:
        if path.name == "metricgroups.json":
            continue
        for entry in json.loads(path.read_text()):
            if "ArchStdEvent" in entry:
                entry = {**standard.get(entry["ArchStdEvent"].upper(), {}), **entry}
            if "EventName" in entry and entry.get("Unit", "") == unit:
                found.setdefault(entry["EventName"].upper(), []).append(entry)
    return found


def standard_events(arch):
    """Arm's events by name, to which the folders of CPUs refer."""
    return {
        entry["EventName"].upper(): entry
        for path in sorted(arch.glob("*.json"))
        for entry in json.loads(path.read_text())
        if "EventName" in entry
    }


def models(arch, folder):
    """The family and models of an Intel CPU."""
    family, found = 0, []
    for row in csv.reader((arch / "mapfile.csv").open()):
        part = re.fullmatch(r"GenuineIntel-(\d+)-(.*)", row[0]) if len(row) == 4 and row[2] == folder else None
        if part:
            family = int(part[1])
            found += [n for n in range(256) if re.fullmatch(part[2], f"{n:02X}")]
    return family, sorted(found)


def encode(entry, vendor, full):
    """Select, extra MSR, its value, and PICs of an entry."""
    extra = MSRS[number(entry, "MSRIndex")] if "MSRIndex" in entry and vendor == "intel" else 0
    value = number(entry, "MSRValue") if extra else 0
    pics = counters(entry)
    return select(entry, vendor), extra, value, 0 if pics & full == full else pics


DECISIONS = {"json": "JSON", "libpfm4": "libpfm4", "refuse": "refused"}
VENDORS_LIST = ("json", "the CPU's vendor's list")


def decisions(path):
    """The lines of a file: globs of PMU and event, what is decided, why."""
    return [line.split(None, 3) for line in path.read_text().splitlines() if line and line[0] != "#"]


def decision(rules, pmu, event):
    """The decision about an event whose sources disagree, and its reason."""
    for pmus, events, what, why in rules:
        if fnmatch.fnmatchcase(pmu, pmus) and fnmatch.fnmatchcase(event, events):
            return what, why
    return VENDORS_LIST


# Bits of libpfm4's codes that are not a name's.
CONTROL = {"intel": 0x530000, "amd": 0x530000, "arm": ~0xFFFF}


def libpfm4_codes(path, vendor):
    """libpfm4's codes: for each PMU a dict from a name with a dot to its select and the value of the extra MSR."""
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        pmu, name, select, extra = line.split()
        code = int(select, 0) & ~CONTROL[vendor], int(extra, 0)
        found.setdefault(pmu, {})[name.upper().replace(":", ".")] = code
    # An event without its unit masks is not another name.
    return {
        pmu: {n: c for n, c in names.items() if not any(m.startswith(n + ".") for m in names)}
        for pmu, names in found.items()
    }


def spelled(name):
    """A name of the JSON with one dot."""
    event, dot, umask = name.upper().partition(".")
    return event + dot + umask.replace(".", "_")


def extra_msr(select):
    """The extra MSR of an event of Intel's, as events/pmu.h has it, or 0."""
    event, code = select & 0xFF, select & 0xFFFF
    if event in (0xB7, 0x2A):
        return 2 if code == 0x2B7 else 1
    if event in (0xBB, 0x2B):
        return 2
    if event in (0xCD, 0x0B) or code == 0x5D0:
        return 3
    return 4 if event == 0xC6 or code in (0x40AD, 0x4C2) else 0


def only_newer(vendor, pmu, base, listed, newer, older):
    """The names of a PMU that only the newer libpfm4 has, as lines of events."""
    known = {spelled(name) for name in listed}
    events = {name.partition(".")[0]: "." in name for name in known}
    old = older.get(pmu) or older.get(base, {})
    for name, (select, value) in sorted(newer.get(pmu, {}).items()):
        event, _, umask = name.partition(".")
        if name in known:
            continue
        if name in old:
            if old[name] != (select, value):
                sys.exit(f"{pmu}: {name}: {old[name]} became {select, value}: no rule decides")
            continue
        # PERF_METRICS, which no PIC counts, and an event that the JSON has with unit masks, or without.
        if event == "TOPDOWN_M" or events.get(event, bool(umask)) != bool(umask):
            continue
        pics = 0
        if vendor == "intel" and select & 0xFF == 0:
            fixed = select >> 8 & 0xFF
            if not 1 <= fixed <= 4:
                continue
            pics = 1 << FIRST_FIXED + fixed - 1
        extra = extra_msr(select) if value else 0
        if value and not extra:
            sys.exit(f"{pmu}: {name}: {select:#x} with {value:#x} of which MSR?")
        yield event, umask, select, extra, value, pics


def listed_pics(found):
    """The general PICs that a list of events knows."""
    return max((counters(e) & (1 << FIRST_FIXED) - 1 for same in found.values() for e in same), default=0, key=int.bit_count)


def print_events(vendor, found, decide):
    """Print the lines of a PMU's events."""
    full = listed_pics(found)
    for name, same in sorted(found.items()):
        codes = {encode(entry, vendor, full) for entry in same}
        if len(codes) > 1:
            sys.exit(f"{name}: two codes: {codes}")
        event, _, umask = name.partition(".")
        what = decide(name)
        print("E", event, umask, *(f"{n:x}" for n in codes.pop()), what, sep="\t")


def print_pmus(vendor, folder, decided, newer_codes, older_codes):
    """Print the lines of a vendor's PMUs."""
    arch_name, pmus = VENDORS[vendor]
    arch = pathlib.Path(folder) / arch_name
    standard = standard_events(arch)
    rules = decisions(pathlib.Path(decided))
    newer, older = libpfm4_codes(newer_codes, vendor), libpfm4_codes(older_codes, vendor)
    for name, base, cpu, unit, description, npic, nfixed in pmus:
        family, numbers = models(arch, cpu) if vendor == "intel" else (0, [])
        if cpu == "knightslanding":  # Knights Mill is a separate PMU
            numbers = [0x57] if name == "knl" else [0x85]
        numbers = ",".join(f"{n:x}" for n in numbers)
        found = entries(arch / cpu if cpu else None, unit, standard)
        added = list(only_newer(vendor, name, base, found, newer, older))
        sources = ("j" if found else "") + ("n" if added else "")
        listed = listed_pics(found).bit_count()
        print("P", name, base, description, *(f"{n:x}" for n in (npic, nfixed, listed, family)), sources, numbers, sep="\t")
        print_events(vendor, found, lambda event, pmu=name: decision(rules, pmu, event)[0])
        for event, umask, *numbers in added:
            print("E", event, umask, *(f"{n:x}" for n in numbers), "json", sep="\t")


HEAD = """# Disagreements of the sources of events

`scripts/mkevents` writes this page. It lists each name whose sources give different codes, and says
which of them the tables have. The sources are libpfm4 4.13, the newer libpfm4 of Debian 13, and
Linux's perf JSON. [docs/events.md](../../docs/events.md) has the rules.

A code is the event select without privileges, or PMEVTYPER's event. After a plus comes the value
of the extra MSR. A source with a dash does not have the name. If the decision is *refused*, the
name is an error with that reason, and a raw code must be used.

| event | CPUs | libpfm4 4.13 | newer | JSON | decision | source |
| --- | --- | --- | --- | --- | --- | --- |"""


def code_text(code):
    """A code as the report has it; None: the source does not have the name."""
    return "-" if code is None else f"{code[0]:#x}" + (f" + {code[1]:#x}" if code[1] else "")


def reported(lines):
    """json.c's lines: libpfm4 4.13's code, or None, and the JSON's, by PMU and event."""
    found = {}
    for line in pathlib.Path(lines).read_text().splitlines():
        pmu, event, has, *codes, _ = line.split("\t")
        select, extra, json_select, json_extra = (int(code, 16) for code in codes)
        found[pmu, event] = (select, extra) if int(has) else None, (json_select, json_extra)
    return found


def print_report(lines, folder, decided, *newer_codes):
    """Print events/generated/disagreements.md."""
    rules = decisions(pathlib.Path(decided))
    found, rows = reported(lines), {}
    for vendor, (arch_name, pmus) in VENDORS.items():
        arch = pathlib.Path(folder) / arch_name
        standard = standard_events(arch)
        newer = libpfm4_codes(newer_codes[vendor == "arm"], vendor)
        for pmu, _, cpu, unit, *_ in pmus:
            for event, same in entries(arch / cpu if cpu else None, unit, standard).items():
                select, _, value, _ = encode(same[0], vendor, 0)
                third = newer.get(pmu, {}).get(spelled(event))
                if (pmu, event) not in found and third not in (None, (select, value)):
                    found[pmu, event] = None, (select, value)
                if (pmu, event) in found:
                    old, listed = found[pmu, event]
                    what, why = decision(rules, pmu, event)
                    row = event, code_text(old), code_text(third), code_text(listed), DECISIONS[what], why
                    rows.setdefault(row, []).append(pmu)
    print(HEAD)
    for (event, *codes, what, why), pmus in sorted(rows.items()):
        print("|", " | ".join((event, " ".join(pmus), *codes, what, why)), "|")


if __name__ == "__main__":
    COMMANDS = {"events": print_pmus, "report": print_report}
    COMMANDS[sys.argv[1]](*sys.argv[2:])
