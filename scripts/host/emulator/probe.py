"""Chooses the accelerator and the architecture that this machine can count with.

KVM is used only after a short boot has succeeded.  Some KVMs die of the first
SIMD instruction, take a thousand cycles for each instruction, or have no PMU.
The image for that boot is built from scripts/probe/.
"""

import argparse
import collections
import os
import re
import subprocess
import time

from host.emulator import qemu
from host.programs import program

PROBE_SECONDS = 3
LOOPS = 10000  # as in scripts/probe/*.S
LOOP_INSTRUCTIONS = 2 * LOOPS
MAX_TICKS_PER_LOOP = 50  # hardware needs one or two, emulation about ten
DEV_KVM = os.environ.get("BARECPC_DEV_KVM", "/dev/kvm")
OVERRIDE = "BARECPC_ACCEL"
NESTED = "nested-kvm"

# The accelerator is "kvm" or "tcg"; "counts" says whether there is a PMU.
Choice = collections.namedtuple("Choice", "arch accel counts reason")
EMULATION = {
    ("arm64", qemu.STOCK): Choice("arm64", "tcg", True, "emulation has an exact PMUv3"),
    ("arm64", qemu.PMU): Choice("arm64", "tcg", True, "emulation has an exact PMUv3, with barecpc's patches"),
    ("x86_64", qemu.STOCK): Choice("x86_64", "tcg", False, "stock emulation has no x86 PMU"),
    ("x86_64", qemu.PMU): Choice("x86_64", "tcg", True, "emulation has an exact PMU, by barecpc's patches"),
}


def emulation_by(arch, emulator):
    """The choice of an emulator.  One that the user names is assumed to count."""
    return EMULATION.get((arch, emulator)) or Choice(arch, "tcg", True, f"{emulator}, asked for")


def judge_kvm(arch, said, complaint=""):
    """Judge the probe image's output: (usable, counts, reason)."""
    values = {name: int(value, 16) for name, value in re.findall(r"^(\w+) ([0-9a-f]{8})$", said, re.M)}
    words = said.split()
    if "BOOT" not in words:
        return False, False, f"KVM does not boot: {complaint or 'the probe printed nothing'}"
    if "END" not in words:
        step = said.strip().splitlines()[-1]
        return False, False, f"KVM gave up after {step!r}: {complaint or 'the probe printed no more'}"
    per_loop = values["TICKS"] / LOOPS
    if per_loop >= MAX_TICKS_PER_LOOP:
        return False, False, f"KVM needs {per_loop:.0f} ticks for a loop of two instructions"
    if values["PMU"] < (2 if arch == "x86_64" else 1):
        return True, False, "KVM works, but gives its guests no PMU"
    if values["COUNT"] < LOOP_INSTRUCTIONS:
        return True, False, f"KVM's PMU counted {values['COUNT']} of {LOOP_INSTRUCTIONS} instructions"
    return True, True, f"KVM with a PMU (version {values['PMU']})"


def probe_kvm(arch):
    """Boot the probe under KVM.  Never takes longer than PROBE_SECONDS."""
    if arch != qemu.HOST_ARCH:
        return False, False, "KVM: not this machine's architecture"
    if not os.access(DEV_KVM, os.R_OK | os.W_OK):
        return False, False, f"KVM: {DEV_KVM} {'may not be opened' if os.path.exists(DEV_KVM) else 'does not exist'}"
    image = qemu.build_file(arch, "probe")
    if not image.exists():
        return False, False, "KVM: the probe is not built"
    words = [qemu.find_qemu(arch), "-accel", "kvm", "-cpu", "host", "-m", "64", "-display", "none",
             "-nodefaults", "-monitor", "none", "-no-reboot", "-kernel", str(image)]
    if arch == "x86_64":
        words += ["-M", "microvm", "-serial", "none", "-debugcon", "stdio",
                  "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
    else:
        words += ["-M", "virt,gic-version=host", "-serial", "stdio"]
    # Start QEMU without a wrapper: killing a wrapper would leave a paused QEMU for ever.
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    os.set_blocking(process.stdout.fileno(), False)
    end, output = time.monotonic() + PROBE_SECONDS, b""
    try:
        while time.monotonic() < end and b"\nEND" not in output and b"KVM internal error" not in output:
            done = process.poll() is not None
            output += process.stdout.read() or b""
            if done:
                break
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return judge_kvm(arch, *split_output(output.decode(errors="replace")))


def split_output(output):
    """The lines of the image, and the first message of QEMU, or ""."""
    said = re.findall(r"^(?:BOOT|SSE|SIMD|END|(?:TICKS|PMU|COUNT) [0-9a-f]{8})$", output.replace("\r", ""), re.M)
    complaints = re.findall(r"^.*(?:KVM internal error|qemu-system-\w+:).*$", output, re.M)
    return "\n".join(said), complaints[0].strip() if complaints else ""


def choose_accel(arch, wanted, kvm, emulator=qemu.STOCK):
    """The accelerator for a run on arch.  kvm(arch) probes KVM; it is called only if the result matters."""
    if wanted == "auto":
        wanted = os.environ.get(OVERRIDE, "auto")
    emulation = emulation_by(arch, emulator)
    if wanted == "tcg":
        return Choice(arch, "tcg", emulation.counts, f"{emulation.reason} (asked for)")
    if wanted == NESTED:
        return Choice(arch, NESTED, True, "KVM of a Linux in emulation")
    if wanted not in ("auto", "kvm"):
        raise qemu.HostError(f"accelerator {wanted}: known are auto, tcg, kvm, {NESTED}")
    if wanted == "auto" and arch != qemu.HOST_ARCH:
        return emulation
    usable, counts, reason = kvm(arch)
    if wanted == "kvm":
        if not usable:
            raise qemu.HostError(reason)
        return Choice(arch, "kvm", counts, f"{reason} (asked for)")
    if counts:
        return Choice(arch, "kvm", True, reason)
    return Choice(arch, "tcg", emulation.counts, f"{emulation.reason}; {reason}")


def choose_arch(kvm):
    """The architecture to count on: that of BARECPC_ARCH; else this machine's if it can count; else one whose emulation can."""
    if os.environ.get("BARECPC_ARCH"):
        try:
            arch = program.arch_name(os.environ["BARECPC_ARCH"])
        except argparse.ArgumentTypeError as error:
            raise qemu.HostError(f"BARECPC_ARCH={error}") from None
        return choose_accel(arch, "auto", kvm, qemu.EMULATOR[arch])
    own = choose_accel(qemu.HOST_ARCH, "auto", kvm) if qemu.HOST_ARCH else None
    if own and own.counts:
        return own
    why = f"; {own.arch} would count in an emulator built first (--arch {own.arch}): {own.reason}" if own else ""
    return Choice("arm64", "tcg", True, emulation_by("arm64", qemu.STOCK).reason + why)
