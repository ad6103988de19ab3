#!/usr/bin/env python3
"""Take the facts about Arm's core events from the vendors' lists: arm.py DATA TELEMETRY FOLDER VERSION writes arm.facts.

DATA is a clone of https://github.com/ARM-software/data, whose README.md says what the fields mean.  TELEMETRY is one of
https://github.com/xinydev/telemetry-solution, a copy of Arm's, whose data/schema says it.  FOLDER is
tools/perf/pmu-events/arch/arm64 of Linux's source, VERSION Linux's, as 7.3.4.  The vendors wrote these files.

Left out are events without a name, events that only the trace unit sees, and C1-SME2, which is not a core.  The lists of
ThunderX2 and Kunpeng are not read.  libpfm4 has their 37 and 29 events with the same codes, and 124 and 94 more.
"""

import collections
import datetime
import json
import pathlib
import sys

import facts

# The PMU's name, its lists, and its description.  A list has the name of its source and its own.  The first list says
# which processors these are.  Neighbours are alike.
CPUS = """
arm_ac32       data:cortex-a32                             ARM Cortex A32
arm_ac34       data:cortex-a34                             ARM Cortex A34
arm_ac35       data:cortex-a35                             ARM Cortex A35
arm_ac53       data:cortex-a53,perf:arm/cortex-a53         ARM Cortex A53
arm_ac55       data:cortex-a55                             ARM Cortex A55
arm_ac57       data:cortex-a57                             ARM Cortex A57
arm_ac72       data:cortex-a72                             ARM Cortex A72
arm_ac73       data:cortex-a73                             ARM Cortex A73
arm_ac65       data:cortex-a65                             ARM Cortex A65
arm_ac65ae     data:cortex-a65ae                           ARM Cortex A65AE
arm_e1         data:neoverse-e1                            ARM Neoverse E1
arm_ac75       data:cortex-a75                             ARM Cortex A75
arm_ac76       data:cortex-a76                             ARM Cortex A76
arm_ac76ae     data:cortex-a76ae                           ARM Cortex A76AE
arm_ac77       data:cortex-a77                             ARM Cortex A77
arm_n1         telemetry:neoverse/neoverse-n1,data:neoverse-n1 ARM Neoverse N1
arm_ac78       data:cortex-a78                             ARM Cortex A78
arm_ac78c      data:cortex-a78c                            ARM Cortex A78C
arm_x1         data:cortex-x1                              ARM Cortex X1
arm_x1c        data:cortex-x1c                             ARM Cortex X1C
arm_v1         telemetry:neoverse/neoverse-v1,data:neoverse-v1 Arm Neoverse V1
arm_ac710      data:cortex-a710                            ARM Cortex A710
arm_x2         data:cortex-x2                              ARM Cortex X2
arm_x3         data:cortex-x3                              ARM Cortex X3
arm_n2         telemetry:neoverse/neoverse-n2-r0p3,data:neoverse-n2 Arm Neoverse N2
arm_v2         telemetry:neoverse/neoverse-v2,data:neoverse-v2 Arm Neoverse V2
arm_ac510      data:cortex-a510                            ARM Cortex A510
arm_ac520      data:cortex-a520                            ARM Cortex A520
arm_ac715      data:cortex-a715                            ARM Cortex A715
arm_ac720      data:cortex-a720                            ARM Cortex A720
arm_ar82       data:cortex-r82                             ARM Cortex R82
arm_x4         data:cortex-x4                              ARM Cortex X4
arm_n3         telemetry:neoverse/neoverse-n3,data:neoverse-n3 Arm Neoverse N3
arm_v3         telemetry:neoverse/neoverse-v3,data:neoverse-v3,perf:arm/neoverse-v3 Arm Neoverse V3
arm_v3ae       data:neoverse-v3ae,perf:arm/neoverse-v3     Arm Neoverse V3AE
arm_c1_ultra   telemetry:lumex/arm-c1-ultra-r0p0-pmu       Arm C1-Ultra
arm_c1_premium telemetry:lumex/arm-c1-premium-r0p0-pmu     Arm C1-Premium
arm_c1_pro     telemetry:lumex/arm-c1-pro-r1p2-pmu         Arm C1-Pro
arm_c1_nano    telemetry:lumex/arm-c1-nano-r0p0-pmu        Arm C1-Nano
arm_t410       perf:nvidia/t410                            NVIDIA T410
arm_a64fx      perf:fujitsu/a64fx                          Fujitsu A64FX
arm_monaka     perf:fujitsu/monaka                         Fujitsu MONAKA
arm_xgene      perf:ampere/emag                            Applied Micro X-Gene
arm_ampereone  perf:ampere/ampereone                       AmpereOne
arm_ampereonex perf:ampere/ampereonex                      AmpereOneX
"""
# General PICs, if no list says how many.  The other CPUs have at least 6.
PICS = {"arm_a64fx": 8, "arm_monaka": 8, "arm_xgene": 4}

# A list: its path, its events, its processors, its version, and the number of general PICs or None.  An event is
# a pair of name and code.  A name without a code is not an event of the PMU.
List = collections.namedtuple("List", "path events ids version npic")


def date(text, form):
    """A date as facts have it."""
    return datetime.datetime.strptime(text, form).date().isoformat()


class Data(facts.Checkout):
    """ARM-software/data."""

    def list(self, name):
        """A list.  trm_name is an event's name in the manual of the CPU, if it is another."""
        path = f"pmu/{name}.json"
        cpu = json.loads(self.text(path))
        events = [(e[key], e["code"]) for e in cpu["events"] for key in ("name", "trm_name") if key in e]
        midr, version = int(cpu["cpuid"], 16), date(cpu["timestamp"], "%a %b %d %H:%M:%S %Y")
        return List(path, events, [midr], version, cpu.get("counters"))


class Telemetry(facts.Checkout):
    """Arm's telemetry."""

    def list(self, name):
        """A list."""
        path = f"data/pmu/cpu/{name}.json"
        cpu = json.loads(self.text(path))
        # Some events are for the trace unit (ETE) alone.
        events = [(event, int(e["code"], 16) if "PMU" in e["accesses"] else None) for event, e in cpu["events"].items()]
        product = cpu["product_configuration"]
        midr = int(product["implementer"], 16) << 12 | int(product["part_num"], 16)
        version = date(cpu["document"]["timestamp"], "%d %b %H:%M:%S %Y")
        return List(path, events, [midr], version, None)


class Perf:
    """The vendors' lists for perf."""

    def __init__(self, folder, version):
        self.folder, self.version = pathlib.Path(folder), version
        self.source = facts.Source("", version, "-", "GPL-2.0", "https://kernel.org")
        # Events that several lists have, by name.  Metrics have no code.
        self.standard = {(e.get("EventName") or e["MetricName"]).upper(): e.get("EventCode") for e in self.entries("")}
        self.ids = collections.defaultdict(list)
        for line in (self.folder / "mapfile.csv").read_text().splitlines():
            if line.startswith("0x"):
                midr, _, name, _ = line.split(",")
                self.ids[name].append(int(midr, 16) >> 12 & 0xFF000 | int(midr, 16) >> 4 & 0xFFF)

    def entries(self, name):
        """All entries of a folder's files."""
        return [e for path in sorted((self.folder / name).glob("*.json")) for e in json.loads(path.read_text())]

    def list(self, name):
        """A list.  An event with a unit is not a core's."""
        events = []
        for entry in self.entries(name):
            if "MetricName" in entry or "Unit" in entry:
                continue
            event = (entry.get("ArchStdEvent") or entry["EventName"]).upper()
            code = self.standard[event] if "ArchStdEvent" in entry else entry["EventCode"]
            events.append((event, code and int(code, 16)))
        return List(name, events, self.ids[name], self.version, None)


def merged(cpu, lists):
    """The facts of a CPU's lists."""
    found = {}
    for one in lists:
        for name, code in one.events:
            first, path = found.setdefault(name, (code, one.path))
            if None not in (first, code) and first != code:
                sys.exit(f"{cpu}: {name}: {first:x} in {path}, {code:x} in {one.path}: let arm.py decide")
    return [facts.Fact(name, (code,), None, (), 0, "") for name, (code, _) in found.items() if code is not None]


def main(data, telemetry, folder, version):
    """Write arm.facts."""
    readers = {
        "data": Data(data, "Apache-2.0", "https://github.com/ARM-software/data"),
        "telemetry": Telemetry(telemetry, "Apache-2.0", "https://github.com/xinydev/telemetry-solution"),
        "perf": Perf(folder, version),
    }
    cpus, found = [], {}
    for line in CPUS.split("\n")[1:-1]:
        name, names, description = line.split(None, 2)
        sources, paths = zip(*(text.split(":") for text in names.split(",")))
        lists = [readers[source].list(path) for source, path in zip(sources, paths)]
        found[name] = merged(name, lists)
        file = ",".join(f"{source}:{one.path}" for source, one in zip(sources, lists))
        npic = next((one.npic for one in lists if one.npic), PICS.get(name, 6))
        ids = ",".join(f"{midr >> 12:x}-{midr & 0xFFF:03x}" for midr in lists[0].ids)
        cpus.append(facts.Cpu(name, file, lists[0].version, npic, 0, ids, description))
    facts.write("arm", [reader.source._replace(name=name) for name, reader in readers.items()], cpus, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
