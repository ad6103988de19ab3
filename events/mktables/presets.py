"""The presets of each PMU: those of the architecture, and those of PAPI whose events our encoder knows on that PMU."""

import collections
import fnmatch
import itertools
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
# Our own encoder, which presets must be known to.
ENCODER = "encode encode_netburst nearer names/find names/key names/masks names/mod names/name names/parse names/preset names/suggest"
FORMULAS = ("DERIVED_POSTFIX", "DERIVED_INFIX")
NOTES = ("note", "ldesc", "sdesc")
# Filters of perf for virtual machines.  They do not change the event.
PERF_FILTERS = ":mg=1:mh=1"

Line = collections.namedtuple("Line", "pmu preset events")

# enum preset_why.
(EXACT, DERIVED, EXECUTED, UOPS, OPERATIONS, ACCESSES, LEVEL, MORE, LESS, OTHER, TWICE, REGISTERS, MERGED) = range(13)

# Presets that PAPI maps to one event which counts something else: patterns of the PMU, the preset and the event.  That is by the
# event's description in libpfm4.  The first line that matches decides.  A preset without a line is offered, so check the lines
# again for another version of PAPI.  docs/events.md has the rule.
DENIED = (
    # Instructions: a preset counts retired ones, each once.  INST_SPEC and others are "operation speculatively executed" in the Arm
    # ARM.
    ("arm_*", "tot_iis", "*", OPERATIONS),
    ("*", "tot_iis", "*", OTHER),  # decoded, or at retirement
    ("*", "br_*", "BR_*_EXEC*", EXECUTED),
    ("arm_*", "*", "INST_SPEC_EXEC_*", EXECUTED),
    ("arm_thunderx2", "*", "*_SPEC", EXECUTED),
    ("arm_*", "br_*", "BR_PRED", EXECUTED),
    ("arm_*", "br_*", "BR_MIS_PRED", EXECUTED),
    ("arm_*", "br_*", "BRANCH_*PRED", EXECUTED),
    ("*", "fp_*", "FP_COMP_OPS_EXE*", UOPS),
    ("core", "f[md][lv]_ins", "*", EXECUTED),
    ("amd64_*", "f*", "DISPATCHED_FPU*", EXECUTED),
    ("amd64_*", "l1_dca", "LS_DISPATCH*", EXECUTED),
    ("snb*", "[ls][dr]_ins", "MEM_UOP*", UOPS),
    ("ivb*", "[ls][dr]_ins", "MEM_UOP*", UOPS),
    ("hsw*", "[ls][dr]_ins", "MEM_UOP*", UOPS),
    ("bdw*", "[ls][dr]_ins", "MEM_UOP*", UOPS),
    # By their names, Skylake's and Cascade Lake's are instructions.
    ("kn[lm]", "[ls][dr]_ins", "MEM_UOP*", UOPS),
    ("slm", "res_stl", "*", OTHER),  # nothing retires
    ("*", "*_ccy", "UOPS_RETIRED*", UOPS),
    ("arm_*", "[ls][dr]_ins", "DATA_MEM_*", ACCESSES),
    ("knc", "[ls][dr]_ins", "*", ACCESSES),
    ("netburst*", "l1_ica", "*", UOPS),
    # Operations of vectors; a counter adds at most fifteen a cycle.
    ("amd64_*", "fp_ops", "RETIRED_SSE_AVX_FLOPS:*", MERGED),
    ("amd64_*", "f*_ins", "RETIRED_SSE_*", OPERATIONS),
    ("amd64_*", "vec_ins", "RETIRED_SSE_*", OPERATIONS),
    ("amd64_*", "fp_ops", "RETIRED_SSE_*", LESS),  # no x87
    ("amd64_*", "fp_ins", "*", MORE),  # moves, MMX
    ("amd64_k8*", "vec_ins", "*", LESS),  # no MMX
    ("amd64_fam11h*", "vec_ins", "*", LESS),
    ("amd64_*", "vec_ins", "*", MORE),  # scalar SSE
    ("atom", "fp_ins", "SIMD_INST_RETIRED*", MORE),  # integers
    ("*", "vec_ins", "SIMD_INST_RETIRED:VECTOR", LESS),
    ("atom", "f[md][lv]_ins", "*", MORE),  # integers
    ("*", "fdv_ins", "ARITH:FPU_DIV", MORE),
    # Branches: br_msp, br_prc and br_tkn count all kinds of branches.
    ("*", "br_msp", "BR_MISP_RETIRED:COND*", LESS),
    ("*", "br_tkn", "BR_INST_RETIRED:COND_TAKEN", LESS),
    ("*", "br_tkn", "BR_INST_RETIRED:TAKEN_JCC", LESS),
    ("knc", "br_msp", "*", LESS),  # of those predicted
    # Caches: requests to the next level are not the misses of this one.  They include prefetches, and misses of one line make one
    # request.
    ("*", "l1_*", "L2_*", LEVEL),
    ("*", "l1_*", "LLC_*", LEVEL),
    ("*", "l1_*", "LAST_LEVEL_CACHE_*", LEVEL),
    ("*", "l1_*", "REQUESTS_TO_L2_*", LEVEL),
    ("*", "l2_*", "L1*", LEVEL),
    ("*", "l2_*", "INSTRUCTION_CACHE_MISSES", LEVEL),
    ("*", "l2_*", "32_BYTE_INSTRUCTION_CACHE_*", LEVEL),
    ("*", "l2_*", "BUS_TRANS_*", LEVEL),
    ("*", "l2_*", "LLC_REFERENCES", LEVEL),
    ("*", "l2_*", "LAST_LEVEL_CACHE_REFERENCES", LEVEL),
    ("*", "l3_*", "L2_*", LEVEL),
    ("*", "l3_*", "OFFCORE_*", LEVEL),
    ("kn[lm]", "l1_dcm", "*:LD_*", LESS),  # loads
    ("*", "l1_dcm", "*:DC_MISS_STREAMING_STORE", MORE),
    ("*", "l2_dca", "*:ALL_DEMAND_REFERENCES", MORE),  # code
    ("amd64_fam17h*", "l2_dch", "*", LESS),  # one state
    ("amd64_fam17h*", "l2_dcr", "*", LESS),
    ("amd64_fam19h*", "l2_dcr", "*", MORE),  # stores
    ("amd64_*", "l2_tca", "REQUESTS_TO_L2:ALL", MORE),  # probes
    ("arm_*", "l2_dch", "*", ACCESSES),
    ("arm_*", "l2_tca", "L2D_CACHE", LESS),  # data
    ("knc", "l2_ldm", "*", TWICE),
    ("*", "l2_stm", "L2_M_LINES_IN*", OTHER),
    ("netburst*", "l[12]_ldm", "*", REGISTERS),  # tags of replays
    ("netburst*", "l2_tc[ahm]", "*", LESS),  # reads
    ("[hb][sd]w*", "prf_dm", "*", LESS),  # L2's prefetchers
    # Lines and snoops: another kind of request, or any state.
    ("*", "ca_cln", "*", MORE),
    ("*", "ca_shr", "*", OTHER),
    ("*", "ca_inv", "*", OTHER),
    ("*", "ca_itv", "*", OTHER),
    ("*", "ca_snp", "OFFCORE_RESPONSE_*", OTHER),
    ("kn[lm]", "tlb_dm", "*", LESS),  # loads
    # Cycles: why retirement waits does not say that a unit is idle.
    ("arm_a64fx", "???_idl", "*", OTHER),
    ("amd64_k8*", "fpu_idl", "*", OTHER),
    ("kn[lm]", "stl_icy", "NO_ALLOC_CYCLES:ANY", EXACT),
    ("*", "stl_icy", "*", LESS),  # for want of instructions
    ("kn[lm]", "res_stl", "*", LESS),  # full stations
    ("netburst*", "res_stl", "*", LESS),  # store buffers
    # Interrupts.
    ("atom", "hw_int", "*", TWICE),
    ("arm_*", "hw_int", "*", MORE),  # exceptions
)

# Presets whose event the architecture defines.  They are the same on each PMU of the architecture, whether or not PAPI knows it.
# They are also the same as in events/own_*.c; tests/host/events/presets.c compares them.  By enum event_kind.
ARCHITECTED = {
    # Intel SDM vol. 3B, "Pre-defined Architectural Performance Events".
    0: {"br_ins": 0xC4, "br_msp": 0xC5, "tot_cyc": 0x3C, "tot_ins": 0xC0},
    # AMD's events of retirement: see own_amd.c.
    1: {"br_ins": 0xC2, "br_msp": 0xC3, "br_tkn": 0xC4, "tot_cyc": 0x76, "tot_ins": 0xC0},
    # Arm ARM (DDI 0487), "PMU events and event numbers".
    2: {"br_ins": 0x21, "br_msp": 0x22, "l1_dca": 0x04, "l1_dcm": 0x03, "l1_ica": 0x14, "l1_icm": 0x01, "l2_dca": 0x16,
        "l2_dcm": 0x17, "l2_ica": 0x27, "l2_icm": 0x28, "l3_dca": 0x2B, "l3_dcm": 0x2A, "ld_ins": 0x06, "res_stl": 0x24,
        "sr_ins": 0x07, "tlb_dm": 0x05, "tlb_im": 0x02, "tot_cyc": 0x11, "tot_ins": 0x08},
}
# Intel's last cache.
LAST_CACHE = {"tca": 0x4F2E, "tcm": 0x412E}
# The level of it; 0: only some parts have a third level, or the CPU is not known.
LEVELS = {"ix86arch": 0, "tmt": 0, "ehl": 0, "core": 2, "atom": 2, "slm": 2, "gl[mp]": 2, "kn[lm]": 2, "*": 3}
INTEL, FAMILY_KNC = 0, 11


def read(path):
    """PAPI's presets, in the order of the file.

    CPU,PMU
    PRESET,NAME,NOT_DERIVED,EVENT
    PRESET,NAME,DERIVED_ADD,EVENT,EVENT...
    PRESET,NAME,DERIVED_POSTFIX,FORMULA,EVENT,EVENT...,NOTE,"text"

    A PMU has the presets after its name, up to the next group of CPU lines.
    """
    lines, pmus, had = [], [], False
    for line in pathlib.Path(path).read_text().splitlines():
        word, *fields = [field.strip() for field in line.split(",") if field] or [""]
        if word == "CPU":
            pmus, had = ([] if had else pmus) + fields[:1], False
        elif word == "PRESET" and pmus:
            had = True
            name, how, *events = itertools.takewhile(lambda field: field and field.lower() not in NOTES, fields)
            events = [event.partition(PERF_FILTERS)[0] for event in events[how in FORMULAS:]]
            lines += (Line(pmu.lower(), name.lower(), events) for pmu in pmus)
    return lines


def matches(table, *texts):
    """The last item of the first line whose patterns match the texts, or EXACT."""
    return next((line[-1] for line in table if all(map(fnmatch.fnmatchcase, texts, line))), EXACT)


def architected(pmu):
    """The codes of the presets whose event the architecture defines."""
    codes = dict(ARCHITECTED.get(pmu["kind"], {}))
    if pmu["family"] == FAMILY_KNC:  # Knights Corner is not of Intel's architecture
        return {}
    level = matches(LEVELS.items(), pmu["name"])
    if pmu["kind"] == INTEL and level:
        codes.update({f"l{level}_{kind}": code for kind, code in LAST_CACHE.items()})
    return codes


class Encoder:
    """Our own encoder, with the table that a file has."""

    def __init__(self, vendor, path, questions):
        program, sources = path.removesuffix(".c") + "-presets", [f"{TOP}/events/{name}.c" for name in ENCODER.split()]
        subprocess.run(["gcc", "-w", "-O1", f"-I{TOP}", f"-DTABLE=events_{vendor}", "-o", program, f"{TOP}/events/mktables/presets.c",
                        path, *sources], check=True)
        names, *answers = subprocess.run([program], input="\n".join(questions), capture_output=True, text=True,
                                         check=True).stdout.splitlines()
        self.names = names.split()
        self.answers = {question: bytes.fromhex(answer) for question, answer in zip(questions, answers) if answer != "-"}


def add(table, vendor, path, lines, codes):
    """Add the presets.  codes has libpfm4's codes of PAPI's names.

    The unit masks of a vendor's events do not combine, but one of its events may be what several are in libpfm4.  PAPI also
    searches the events of the architecture, a separate PMU of libpfm4's.
    """
    def by_code(number, code):
        return f"{number} - {code:#x}"

    def by_name(number, pmu, event):
        found = (codes.get(f"{name}::{event}") for name in (pmu["name"], "ix86arch"))
        return f"{number} {event} {' '.join(f'{code:#x}' for code in found if code is not None)}"

    pmus = table.pools["pmus"].items
    papi = collections.defaultdict(dict)  # of a PMU's number: a later line replaces an earlier one
    for number, pmu in enumerate(pmus):
        papi[number].update({line.preset: line.events for line in lines if line.pmu == pmu["name"]})
    questions = [by_code(number, code) for number, pmu in enumerate(pmus) for code in architected(pmu).values()]
    questions += [by_name(number, pmus[number], event) for number in papi for events in papi[number].values() for event in events]
    encoder = Encoder(vendor, path, list(dict.fromkeys(questions)))
    for number, pmu in enumerate(pmus):
        rows = bytearray()
        for place, preset in enumerate(encoder.names):
            code, events, why = architected(pmu).get(preset), papi[number].get(f"papi_{preset}", ()), DERIVED
            found = [encoder.answers.get(by_code(number, code))] if code is not None else [None]
            if found[0]:
                why = EXACT
            else:
                found = [encoder.answers.get(by_name(number, pmu, event)) for event in events]
                if len(events) == 1:
                    why = matches(DENIED, pmu["name"], preset, events[0])
            # PAPI has a preset whose events it finds all; the others it drops.
            for event in found if all(found) else ():
                rows += bytes([place, why]) + table.find("aliases", event).to_bytes(2, "little")
        pmu["preset"], pmu["npreset"] = table.find("presets", rows), len(rows) // 4
