#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""An exception in the kernel ends the run in one panic that names it, whatever the kernel was doing.

A program at system privilege (provoke.c) replaces instructions of the kernel by ones that raise the exception, then has the
kernel execute them.  Each cell of the matrix boots once.  By `make check` these are each exception in a system call, and
one in each other context.  With BARECPC_CAMPAIGN=yes they are all exceptions in all contexts."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from host import cpio
from qmp_guest import ROOT, Guest, Points

CAMPAIGN = os.environ.get("BARECPC_CAMPAIGN") == "yes"
AT_ONCE = 2

# EL2's vector for HVC of EL1, and code for it: mrs x0, hcr_el2; orr x0, x0, #AMO; orr x0, x0, #VSE; msr hcr_el2, x0; eret.
# Arm ARM (DDI 0487), "HCR_EL2, Hypervisor Configuration Register": a virtual SError is pending.
LOWER_SYNC = 0x400
SEND_SERROR = b"".join(word.to_bytes(4, "little") for word in (0xD53C1100, 0xB27B0000, 0xB2780000, 0xD51C1100, 0xD69F03E0))
# The same vector as a hypervisor without a vPMU has it: EL1 gets an undefined instruction.  msr tpidr_el2, x0; spsr_el1 = spsr_el2;
# elr_el1 = elr_el2; esr_el1 = IL; elr_el2 = vbar_el1 + 0x200; spsr_el2 = EL1h, masked; mrs x0, tpidr_el2; eret.
INJECT = b"".join(word.to_bytes(4, "little") for word in (
    0xD51CD040, 0xD53C4000, 0xD5184000, 0xD53C4020, 0xD5184020, 0xD2A04000, 0xD5185200, 0xD538C000, 0x91080000, 0xD51C4020,
    0xD28078A0, 0xD51C4000, 0xD53CD040, 0xD69F03E0))
# drop_to_el1: mrs x2, pmcr_el0; ubfx x2, x2, #11, #5; msr mdcr_el2, x2.  Instead: udf (as EL3 traps the read); TPM; msr.
OPEN_PMU = b"".join(word.to_bytes(4, "little") for word in (0xD53B9C02, 0xD34B3C42, 0xD51C1122))
TRAP_PMU = b"".join(word.to_bytes(4, "little") for word in (0x00000000, 0xD2800802, 0xD51C1122))
# The place at which it is taken: PSTATE.A is clear in programs, in the idle loop and in the kernel's own threads.
SERRORS = {
    "idle": "arch_idle",
    "an interrupt of the idle CPU": "arch_idle",
    "a system call": r"\?",
    "an interrupt of a program": r"\?",
}


# A context: the symbol that the code replaces, what else is replaced, and what makes the kernel come there.
CONTEXTS = {
    "x86_64": {
        "a system call": ("sys_getpid", "", "call"),
        "idle": ("witness_idle", "", "sleep"),
        "idle, interrupts on": ("x86_idle_hlt", "", "sleep"),
        "an interrupt of the idle CPU": ("timer_intr", "", "sleep"),
        "an interrupt of a program": ("timer_intr", "", "spin"),
        "an NMI in a system call": ("x86_nmi_stray", "nmi@sys_getpid", "call"),
        "an NMI of the idle CPU": ("x86_nmi_stray", "nmi@arch_idle", "sleep"),
        "an NMI of a program": ("x86_nmi_stray", "", "nmi"),
        "a write to the console": ("crc32", "", "write"),
        # GS is the kernel's, then the program's.
        "the entry of an interrupt of the idle CPU": ("interrupt", "", "sleep"),
        "the entry of an interrupt of a program": ("interrupt", "", "spin"),
    },
    "arm64": {
        "a system call": ("sys_getpid", "", "call"),
        "idle": ("witness_idle", "", "sleep"),
        "idle, before WFI": ("arch_idle", "", "sleep"),
        "an interrupt of the idle CPU": ("timer_intr", "", "sleep"),
        "an interrupt of a program": ("timer_intr", "", "spin"),
        "a write to the console": ("crc32", "", "write"),
    },
}
# A few bytes there, so few codes fit.
SHORT = {"idle, interrupts on", "idle, before WFI"}
# The entry distinguishes an interrupt with interrupts off from one of the idle loop.
ENTRIES = {"the entry of an interrupt of the idle CPU", "the entry of an interrupt of a program"}

# Each has a stack of its own, whose guard is tried.
DEEP = {"idle", "an NMI in a system call", "an interrupt of a program"}

# A code, and what the kernel calls its exception.
FAULTS = {
    "x86_64": {
        "divide": "integer division",
        "step": "debug exception",
        "breakpoint": "breakpoint",
        "overflow": r"overflow \(INTO\)",
        "bound": "bound exceeded",
        "undefined": "undefined instruction",
        "no_fpu": "no floating point here",
        "not_present": "segment not present",
        "stack": "stack segment",
        "protection": "general protection",
        "page_absent": "not mapped",
        "page_text": "not writable",
        "page_data": "not executable",
        "x87": "x87 exception",
        "simd": "SIMD floating point exception",
        "reserved": "unexpected vector",
    },
    "arm64": {
        "undefined": "undefined or privileged instruction",
        "unknown_register": "undefined or privileged instruction",
        "no_fpu": "no floating point here",
        "no_sve": "no SVE here",
        "no_sme": "no SME here",
        "illegal": "illegal execution state",
        "call": "unexpected exception",
        "page_absent": "not mapped",
        "page_text": "not writable",
        "page_data": "not executable",
        "misaligned": "misaligned",
        "misaligned_pc": "misaligned pc",
        "breakpoint": "breakpoint",
    },
}
# These are reported on a stack of their own.
STACKS = {
    "x86_64": {
        "double_fault": "double fault",
        "guard": "kernel stack overflow",
        "nowhere": "bad kernel stack pointer",
        "uninvited": "interrupt while interrupts are off: the emulator or hypervisor delivered one too many",
    },
    "arm64": {
        "misaligned_sp": "bad kernel stack pointer",
        "guard": "kernel stack overflow",
        "nowhere": "bad kernel stack pointer",
    },
}

# The monitor's commands, and the contexts that they strike.  The machine check is uncorrected, with its address.
NMI, MACHINE_CHECK, LOOP_BYTES = "nmi", "mce 0 3 0xbe00000000000134 0x5 0x1234000 0x8c", 4
STRIKES = {
    MACHINE_CHECK: ["a system call", "idle", "an NMI in a system call"],
    NMI: ["a system call", "idle"],
}
if CAMPAIGN:
    STRIKES[MACHINE_CHECK] += ["an interrupt of the idle CPU", "an interrupt of a program", "an NMI of the idle CPU", "an NMI of a program"]
    STRIKES[NMI] += ["an interrupt of the idle CPU", "an interrupt of a program"]


def symbols(arch):
    words = subprocess.run(["nm", ROOT / "build" / arch / "kernel.elf"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[2]: line.split()[0] for line in words.splitlines()}


def build(arch, folder):
    """An archive with the program."""
    program, archive = folder / f"provoke-{arch}", folder / f"provoke-{arch}.cpio"
    source = ROOT / "tests/cli/programs/kernel"
    subprocess.run([ROOT / "scripts" / "barecpc-cc", "--arch", arch, "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
                    source / "provoke.c", source / f"provoke_{arch}.c"], check=True)
    archive.write_bytes(cpio.pack({"provoke": program.read_bytes()}))
    return archive


def cells(arch):
    """(code, context) of those that run."""
    for context in CONTEXTS[arch]:
        for code in [*FAULTS[arch], *STACKS[arch]]:
            if context in SHORT:
                wanted = code == "undefined"
            elif context in ENTRIES:
                wanted = code == "uninvited"
            else:
                wanted = CAMPAIGN or context == "a system call" or code == "undefined" or (code == "guard" and context in DEEP)
            if wanted:
                yield code, context


def boot(arch, archive, address, code, context):
    """Boot a cell.  Returns lines that say what is wrong with the run's end, or none."""
    symbol, more, then = CONTEXTS[arch][context]
    pokes = [word.split("@") for word in [f"{code}@{symbol}", *more.split()]]
    words = [f"{name}@{address[at]}" for name, at in pokes]
    guest = Guest(arch, payload=archive, program=["provoke", *words, then], append="priv=system", limit=20)
    guest.wait()
    # A jump to data, or to no instruction, has no symbol of ours.
    place = r"pc 0x[0-9a-f]+ \(" + (r"[^ ]+" if code == "page_data" else symbol) + r"\+0x[0-9a-f]+\)"
    faults = [line for line in guest.log if line.startswith("kernel fault: ")]
    panics = [line for line in guest.log if line.startswith("panic: ")]
    if code in STACKS[arch]:
        good = not faults and len(panics) == 1 and re.match(f"panic: {STACKS[arch][code]} at {place}, sp 0x", panics[0])
    else:
        what = FAULTS[arch][code]
        good = len(faults) == 1 and re.match(f"kernel fault: {what} at {place}, address 0x", faults[0]) and \
            len(panics) == 1 and re.fullmatch(f"panic: {what} in the kernel", panics[0])
    return [] if good and guest.exit == 125 else [f"exit {guest.exit}", *guest.log[-12:]]


def struck(archive, address, context, event):
    """The same if the monitor's event strikes a loop in the context."""
    symbol, more, then = CONTEXTS["x86_64"][context]
    pokes = [word.split("@") for word in [f"loop@{symbol}", *more.split()]]
    words = [f"{name}@{address[at]}" for name, at in pokes]
    guest = Guest("x86_64", payload=archive, program=["provoke", *words, then], append="priv=system nmi=panic", limit=20)
    registers, loops = None, {f"RIP={int(address[symbol], 16) + n:016x}" for n in range(LOOP_BYTES)}
    while guest.running() and not any(loop in str(registers) for loop in loops):
        time.sleep(0.01)
        registers = guest.monitor("info registers")
    guest.monitor(event)
    guest.wait()
    what = "NMI" if event == NMI else "machine check: CPU 0"
    panics = [line for line in guest.log if line.startswith("panic: ")]
    place = re.fullmatch(rf"panic: {what} at pc 0x([0-9a-f]+) \(.*", panics[0]) if len(panics) == 1 else None
    good = place and 0 <= int(place[1], 16) - int(address[symbol], 16) < LOOP_BYTES
    return [] if good and guest.exit == 125 else [f"exit {guest.exit}", *guest.log[-12:]]


def silent(arch, archive, address):
    """A fault in each report of a fault: the machine ends all the same, without a word."""
    words = ["provoke", f"undefined@{address['arch_putc']}", "write"]
    guest = Guest(arch, payload=archive, program=words, append="priv=system", limit=20)
    guest.wait()
    return [] if guest.exit is None and not guest.killed else [f"exit {guest.exit}", *guest.log[-12:]]


def serror(archive, image, address, context, place):
    """An SError that becomes pending in the context is taken there, or where PSTATE.A is cleared next."""
    symbol, _, then = CONTEXTS["arm64"][context]
    guest = Guest("arm64", payload=archive, program=["provoke", f"serror@{address[symbol]}", then], append="priv=system",
                  machine="virtualization=on", image=image, limit=20)
    guest.wait()
    panics = [line for line in guest.log if line.startswith("panic: ")]
    good = len(panics) == 1 and re.match(rf"panic: SError at pc 0x[0-9a-f]+ \({place}\+0x[0-9a-f]+\), sp 0x", panics[0])
    return [] if good and guest.exit == 125 else [f"exit {guest.exit}", *guest.log[-12:]]


def serrors(points, archive, address, folder):
    """A copy of the kernel leaves EL2 code that answers HVC with a virtual SError."""
    image, at = bytearray((ROOT / "build" / "arm64" / "Image").read_bytes()), LOWER_SYNC
    at += int(address["el2_vectors"], 16) - int(address["_start"], 16)
    image[at:at + len(SEND_SERROR)] = SEND_SERROR
    changed = folder / "Image"
    changed.write_bytes(image)
    for context, place in SERRORS.items():
        wrong = serror(archive, changed, address, context, place)
        points.check(not wrong, f"arm64: serror in {context}", *wrong)


def trapped(points, address, folder):
    """A PMU that the ID register announces, and that EL2 and EL3 trap (MDCR_EL2.TPM, MDCR_EL3.TPM), is absent."""
    image, at = bytearray((ROOT / "build" / "arm64" / "Image").read_bytes()), LOWER_SYNC
    at += int(address["el2_vectors"], 16) - int(address["_start"], 16)
    image[at:at + len(INJECT)] = INJECT
    points.check(image.count(OPEN_PMU) == 1, "arm64: the kernel opens the PMU in one place")
    changed = folder / "trapped"
    changed.write_bytes(image.replace(OPEN_PMU, TRAP_PMU))
    guest = Guest("arm64", payload="archive.cpio", program=["spin"], machine="virtualization=on", image=changed, limit=30)
    guest.wait()
    points.check(guest.exit == 77 and any("PMU absent: trapped: " in line for line in guest.log),
                 "arm64: a PMU that is trapped is absent", f"exit {guest.exit}", *guest.log[-12:])


def main():
    points = Points()
    archs = [word for word in sys.argv[1:] if word in CONTEXTS] or list(CONTEXTS)
    only = [word for word in sys.argv[1:] if word not in CONTEXTS]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for arch in archs:
            archive, address = build(arch, pathlib.Path(name)), symbols(arch)
            table = [cell for cell in cells(arch) if not only or cell[0] in only or cell[1] in only]
            ends = pool.map(lambda cell: boot(arch, archive, address, *cell), table)
            for (code, context), wrong in zip(table, ends):
                points.check(not wrong, f"{arch}: {code} in {context}", *wrong)
            if not only or "silent" in only:
                wrong = silent(arch, archive, address)
                points.check(not wrong, f"{arch}: a fault of the console itself ends the run", *wrong)
            if arch == "x86_64" and (not only or "struck" in only):
                strikes = [(context, event) for event, contexts in STRIKES.items() for context in contexts]
                ends = pool.map(lambda strike: struck(archive, address, *strike), strikes)
                for (context, event), wrong in zip(strikes, ends):
                    points.check(not wrong, f"x86_64: {event.split()[0]} in {context}", *wrong)
            if arch == "arm64" and (not only or "serror" in only):
                serrors(points, archive, address, pathlib.Path(name))
            if arch == "arm64" and (not only or "trapped" in only):
                trapped(points, address, pathlib.Path(name))
    return points.end()


if __name__ == "__main__":
    raise SystemExit(main())
