"""The events of CPUs that have a vendor's file, as drafts (tables.py).

The facts are those of events/generated/VENDOR.facts.  A name of a libpfm4 is a further spelling if its code is that of a
vendor's event.  Each name has its whole code, so no unit masks combine.
"""

import collections
import fnmatch
import pathlib
import re
import sys

import facts

# libpfm4's PMU of the same core, for a CPU that it does not have.
SAME_CORE = {"wsm_ex": "wsm_dp", "bdw_de": "bdw_ep", "tgl": "icl", "rkl": "icl", "emr": "spr", "glp": "glm",
             "ehl": "tmt", "adl_n": "adl_grt", "mtl_rwc": "adl_glc"}
# Bits of libpfm4's codes that are not a name's.
CONTROL = {"intel": 0x530000, "amd": 0x530000, "arm": ~0xFFFF}
# ep_flags of events/table.h: PMU_RAW_UMASK, PMU_EDGE_CMASK.
FLAGS = {"intel": 3, "amd": 1, "arm": 0}
# The extra MSRs, as in enum event_extra.
MSRS = {0x1A6: 1, 0x1A7: 2, 0x3F6: 3, 0x3F7: 4}
LDLAT, LDLAT_MIN, MOD_LDLAT = 3, 3, 0x40
# Flags of unit masks and rows, and the modifiers that bits of a select are: events/table.h.
UM_ALONE, UM_DEFAULT, UM_EVENT, UM_LDLAT, UM_EXTRA_SHIFT = 1, 2, 0x40, 0x80, 10
ER_BARE, ER_DOTTED = 1, 2
MODS_SET = {2: 1 << 18, 3: 1 << 23, 4: 0xFF << 24, 5: 1 << 21}
# The events of fixed PICs that general ones count, too: the code is theirs, as perf has it (tools/perf/pmu-events/jevents.py).
FIXED = {
    "INST_RETIRED.ANY": 0xC0,
    "CPU_CLK_UNHALTED.REF": 0x300,
    "CPU_CLK_UNHALTED.THREAD": 0x3C,
    "CPU_CLK_UNHALTED.CORE": 0x3C,
    "CPU_CLK_UNHALTED.THREAD_ANY": 0x3C | 1 << 21,
}
# Modifiers, as in enum event_mod: k, u, e, i and c; t; intx and intxcp where the list has events of TSX.
BASE_MODS, MOD_T, MODS_TSX = 0x1F, 0x20, 0x180
MODS = {"amd": 0x61F, "arm": 0x803}
# Cores with AnyThread: Intel SDM vol. 3B, "Architectural Performance Monitoring Version 3".  From Ice Lake and Tremont on
# bit 15 of CPUID.0AH:EDX takes it away.
ANY_THREAD = "atom nhm* wsm* snb* ivb* hsw* bdw* skl skx clx slm kn?"

Key = collections.namedtuple("Key", "select extra value")


def modifiers(vendor, cpu, known):
    """The modifiers of a CPU's events, which are known."""
    if vendor != "intel":
        return MODS[vendor]
    any_thread = any(fnmatch.fnmatch(cpu, pattern) for pattern in ANY_THREAD.split())
    return BASE_MODS | MOD_T * any_thread | MODS_TSX * any(fact.name.startswith("RTM_RETIRED.") for fact in known)


def spelled(name):
    """A name as event and unit mask, whose dots are `_`."""
    event, _, umask = name.upper().replace(":", ".").partition(".")
    return event, umask.replace(".", "_")


def keys(vendor, fact):
    """The codes of a fact: the first is what its name means."""
    for n, select in enumerate(fact.selects):
        if vendor == "intel" and fact.pics >> facts.FIRST_FIXED:
            select = FIXED.get(fact.name, select)
        msr = fact.msrs[n] if fact.msrs else 0
        if msr and msr not in MSRS:
            return
        yield Key(select, MSRS.get(msr, 0), fact.value)


class Table:
    """The names of a CPU: for each event, its unit masks."""

    def __init__(self, vendor, cpu, known):
        self.vendor, self.full = vendor, (1 << cpu.npic) - 1
        self.masks = collections.defaultdict(dict)  # event: unit mask: its key and PICs
        self.default = {}  # event: its unit mask
        self.dotted = set()
        self.pics = collections.Counter()  # by key: where one of the vendor's events counts
        for fact in known:
            self.add_fact(fact)
        self.add_latencies()
        for select in (0xC0, 0x3C, 0xC4) if vendor == "intel" else ():
            # Nehalem's list has the first two on fixed PICs alone, and lacks the third.  They are architectural, so all
            # general PICs count them: Intel SDM vol. 3B, "Pre-defined Architectural Performance Events".
            self.pics[Key(select, 0, 0)] |= self.full
        for event in list(self.masks):
            self.default_of(event, lambda key: key.select == key.select & 0xFF and not key.extra)

    def add(self, name, key, pics):
        """Add a name; two names of the vendor's that are spelled alike have one code."""
        event, umask = spelled(name)
        if self.masks[event].setdefault(umask, (key, pics)) != (key, pics):
            sys.exit(f"{name}: two codes: {self.masks[event][umask]} and {(key, pics)}")

    def add_fact(self, fact):
        """Add an event of the vendor's."""
        pics = self.full if fact.pics is None else fact.pics
        # Event 00H's unit mask n + 1 is fixed PIC n.  Jaketown's list has another one for THREAD_ANY.
        if self.vendor == "intel" and pics >> facts.FIRST_FIXED and fact.selects[0] & 0xFF == 0 and fact.selects[0] & 0xFF00:
            pics = 1 << facts.FIRST_FIXED - 1 + (fact.selects[0] >> 8 & 0xFF)
        codes = list(keys(self.vendor, fact))
        if not codes:
            return
        self.add(fact.name, codes[0], pics)
        if fact.name.count(".") > 1:
            self.dotted.add(spelled(fact.name)[0])
        for key in codes:
            self.pics[key] |= pics

    def add_latencies(self):
        """Add a name with a modifier for latencies of several lengths."""
        for event, masks in self.masks.items():
            for umask, (key, pics) in list(masks.items()):
                latency = re.fullmatch(r"(.+)_GT_\d+", umask) if key.extra == LDLAT else None
                if latency:
                    key = key._replace(value=LDLAT_MIN)
                    masks.setdefault(latency[1], (key, pics))
                    self.pics[key] |= pics

    def default_of(self, event, fits):
        """Let the event's name alone mean the unit mask whose code fits."""
        found = [umask for umask, (key, _) in self.masks[event].items() if umask and fits(key)]
        if found and "" not in self.masks[event]:
            most = min(found, key=lambda umask: (-(self.masks[event][umask][1] & self.full).bit_count(), umask))
            self.default.setdefault(event, most)

    def add_libpfm4(self, names):
        """Add libpfm4's names of the vendor's events."""
        alone = {}
        # libpfm4 says which MSR by the event alone.
        known = {(key.select, key.value): key for key in self.pics}
        for name, code in names.items():
            key, (event, umask) = known.get(code), spelled(name)
            if not key or umask in self.masks.get(event, ()):
                continue
            if not umask:
                alone[event] = key
            else:
                self.masks[event][umask] = key, self.pics[key]
        for event, key in alone.items():
            if event in self.masks:
                self.default_of(event, lambda other, key=key: other == key)
            else:
                self.masks[event][""] = key, self.pics[key]

    def entries(self, event, masks):
        """The names of an event: unit mask, key, PICs, and whether the event's name alone means it."""
        for umask, (key, pics) in sorted(masks.items()):
            if umask or len(masks) == 1:
                yield umask, key, pics, umask and self.default.get(event) == umask
            elif self.vendor == "amd":
                # AMD's names alone have all bits.  OFFCORE_RESPONSE alone has no value of the MSR that its unit masks have.
                yield "ALL", key, pics, True

    def event_of(self, select):
        """The number of the event, as er_code has it."""
        return select if self.vendor == "arm" else select & 0xFF | (select >> 24 & 0xF00 if self.vendor == "amd" else 0)

    def umask(self, name, key, default, code):
        """The flags, modifiers, code and value of a unit mask of an event with this code."""
        select, latency = key.select, key.extra == LDLAT and key.value == LDLAT_MIN
        flags = UM_ALONE | UM_DEFAULT * bool(default) | (UM_LDLAT if latency else key.extra << UM_EXTRA_SHIFT)
        if self.event_of(select) != code:
            if self.vendor == "amd":
                sys.exit(f"{name}: events differ")
            flags |= UM_EVENT
        if self.vendor == "amd":
            select &= 0xFF00
        fixed = sum(1 << mod for mod, bits in MODS_SET.items() if select & bits)
        return flags, fixed, select, 0 if latency else key.value

    def drafts(self, mods):
        """The events, each as a draft."""
        for event, masks in sorted(self.masks.items()):
            entries = list(self.entries(event, masks))
            _, key, pics, _ = entries[0]
            code = self.event_of(key.select)
            flags, umasks, more = ER_DOTTED * (event in self.dotted), [], 0
            if not entries[0][0]:
                row = code | (key.select & 0xFF00) << 8 if self.vendor == "amd" else key.select
                if row >> 32 or key.extra:
                    sys.exit(f"{event}: more than a row holds")
                yield draft(event, mods, row, ER_BARE, pics, [])
                continue
            for name, key, its_pics, default in entries:
                um_flags, fixed, select, value = self.umask(name, key, default, code)
                flags |= ER_BARE * bool(default)
                more |= MOD_LDLAT * (um_flags & UM_LDLAT != 0)
                umasks.append({"name": name, "equiv": None, "flags": um_flags, "fixed": fixed, "group": 0, "code": select,
                               "pics": its_pics if its_pics != pics else 0, "extra": value, "enough": True})
            yield draft(event, mods | more, code, flags, pics, umasks)


def draft(name, mods, code, flags, pics, umasks):
    """A draft, of no model yet."""
    return {"name": name, "equiv": None, "mods": mods, "code": code, "flags": flags, "ngroup": int(bool(umasks)), "pics": pics,
            "umasks": umasks}


def libpfm4_names(path, vendor):
    """libpfm4's names: for each PMU a dict from a name to its select and the value of the extra MSR."""
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        pmu, name, select, extra = line.split()
        found.setdefault(pmu, {})[name] = int(select, 0) & ~CONTROL[vendor], int(extra, 0)
    return found


def models(ids):
    """The family and the models of an Intel CPU."""
    parts = [part.partition("/")[0].split("-") for part in ids.split(",")]
    return int(parts[0][0], 16), [int(model, 16) for _, model in parts]


def source_of(sources, cpu):
    """The repositories that a CPU's files are from, each with its revision; the files, and their version if they say it."""
    known, files = {source.name: source for source in sources}, collections.defaultdict(list)
    for file in cpu.file.split(","):
        name, _, path = file.rpartition(":")
        source = known[name or sources[0].name]
        files[pathlib.PurePath(path).stem].append(f"{source.name} {source.revision[:7]}")
    text = "; ".join(f"{', '.join(texts)} {file}" for file, texts in files.items())
    return f"{text} {cpu.version}" if len(sources) == 1 else text


def read(vendor, paths):
    """A vendor's CPUs: each one's struct event_pmu, its source, and its drafts.  The files of paths have codes of libpfm4's."""
    libraries = [libpfm4_names(path, vendor) for path in paths]
    sources, cpus, known = facts.read(vendor)
    for cpu in cpus:
        table = Table(vendor, cpu, known[cpu.name])
        for names in libraries:
            table.add_libpfm4(names.get(cpu.name) or names.get(SAME_CORE.get(cpu.name), {}))
        family, numbers = models(cpu.ids) if vendor == "intel" else (0, [])
        pmu = {"name": cpu.name, "desc": cpu.description, "npic": cpu.npic, "nfixed": cpu.nfixed, "flags": FLAGS[vendor], "family": family,
               "models": numbers}
        yield pmu, source_of(sources, cpu), list(table.drafts(modifiers(vendor, cpu.name, known[cpu.name])))
