#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A program finds the same CPU here as under Linux on the same emulated machine.

The program identity.c prints its auxiliary vector and the registers that a kernel sets or emulates: ID registers on arm64,
TSC_AUX and its kind on x86-64, on each CPU.  The distribution's Linux runs it as its only process, and barecpc as a payload.
KNOWN has the values that differ, each with its reason.
"""
import pathlib
import subprocess
import tempfile

import tap
from host import cpio

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Per architecture: its QEMU, the machine's options, the console, and the CPUs.
MACHINES = {
    "arm64": ("qemu-system-aarch64", ["-M", "virt"], "ttyAMA0", ("max", "cortex-a72")),
    "x86_64": ("qemu-system-x86_64", [], "ttyS0", ("max",)),
}
ALL = (1 << 64) - 1
# The bits of a value that may differ.
KNOWN = {
    "arm64": {
        "AT_HWCAP": 3 << 30,              # pointer authentication is off: no process has keys
        "AT_HWCAP2": 1 << 17,             # BTI is off: mmap() and mprotect() take no PROT_BTI
        "S3_0_C0_C4_1": 0xF,              # the same, in ID_AA64PFR1_EL1.BT
        "S3_0_C0_C6_1": 0xFF000FF0,       # and pointer authentication in ID_AA64ISAR1_EL1
        "AT_MINSIGSTKSZ": ALL,            # SVE vectors have at most 64 bytes here (arch/arm64/trap/fp.c), and there is no SME
        "ctr_el0": 1 << 28,               # IDC: if CLIDR_EL1 implies it, Linux traps reads, and adds it
        "cntfrq_el0": ALL,                # `run` gives the machine a clock of 1 GHz (scripts/host/emulator/qemu.py)
    },
    "x86_64": {
        "AT_HWCAP2": 1 << 1,              # FSGSBASE is off: with it a program could set the GS base, by which the kernel finds its CPU
        "AT_MINSIGSTKSZ": ALL,            # each kernel's own records around the XSAVE area, which is the same
    },
}


def values(text):
    """The values of the lines "= NAME VALUE", by CPU and name."""
    found, cpu = {}, ""
    for line in text.replace("\r", "").splitlines():
        if line.startswith("= CPU "):
            cpu = line[2:] + ": "
        elif line.startswith("= "):
            name, _, value = line[2:].rpartition(" ")
            found[cpu + name] = value
    return found


def under_linux(arch, cpu, program, work):
    qemu, options, console, _ = MACHINES[arch]
    outer = subprocess.run([ROOT / "tests/kvm/outer-linux", "--path", arch], capture_output=True, text=True, check=True).stdout.strip()
    (work / "initrd").write_bytes(cpio.pack({"init": program.read_bytes()}))
    done = subprocess.run([qemu, *options, "-accel", "tcg", "-cpu", cpu, "-smp", "2", "-m", "512", "-nodefaults", "-nographic", "-serial", "stdio",
                           "-no-reboot", "-kernel", f"{outer}/vmlinuz", "-initrd", work / "initrd", "-append", f"console={console} quiet panic=-1"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)
    return values(done.stdout)


def here(arch, cpu, program):
    done = subprocess.run([ROOT / "scripts/barecpc", "run", "--arch", arch, "--accel", "tcg", "--qemu", "stock", "--cpu", cpu, "--smp", "2",
                           "--payload", program, "--", program.name], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return values(done.stdout)


def differences(arch, theirs, ours):
    wrong = [] if len(theirs) > 20 else [f"Linux printed {len(theirs)} values"]
    for name in sorted(theirs.keys() | ours.keys()):
        pair = theirs.get(name, "missing"), ours.get(name, "missing")
        mask = KNOWN[arch].get(name.rpartition(": ")[2], 0)
        numbers = [int(value, 0) & ~mask for value in pair if value.startswith("0")]
        if pair[0] != pair[1] and (len(numbers) != 2 or numbers[0] != numbers[1]):
            wrong.append(f"{name}: {pair[0]} under Linux, {pair[1]} here")
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for arch, (*_, cpus) in MACHINES.items():
            program = work / "identity"
            subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", arch, "-O2", "-o", program, ROOT / "tests/cli/programs/identity.c"], check=True)
            for cpu in cpus:
                tap.check(f"{arch}, {cpu}: a program finds what it finds under Linux",
                          differences(arch, under_linux(arch, cpu, program, work), here(arch, cpu, program)))
    tap.end()


main()
