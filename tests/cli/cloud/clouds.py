#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib:tests/cli/boot python3 -B
"""Machines as clouds have them (tests/cloud) run spin and the default suite: `barecpc read` gets all records from the console's log.

A machine is a file: its architecture, the format of its disk or how else it boots, words for the kernel, and QEMU's options.
No cloud has been tried: QEMU takes its place.  The campaign boots all, `make check` two.
"""

import pathlib
import re
import shlex
import sys
import tempfile

from cloud import CAMPAIGN, ROOT, boot, build, firmware, make, read, spins, tail
from host.emulator import qemu
from tap import check, end, equal

MACHINES = ROOT / "tests" / "cloud"
IN_CHECK = ("gce-c4", "aws-graviton")
SPIN = ["spin", "-r", "2", "-w", "0"]
SUITE = {"spin", "triad", "matmul", "chase"}  # what the default suite runs
BOOTS = {"uefi": "uefi", "pvh": "pvh", "kexec": "linux-image"}  # the protocol that a record names


class Machine:
    """A file of tests/cloud.  Raises ValueError for a line that means nothing."""

    def __init__(self, path):
        self.name, self.arch, self.kind, self.how, self.append, self.options = path.name, "", "", "uefi", [], []
        for line in path.read_text().splitlines():
            word, _, rest = line.partition(" ")
            if line.startswith("-"):
                self.options += shlex.split(line)
            elif word == "arch" and rest in qemu.ARCHS:
                self.arch = rest
            elif word == "for":
                self.kind = rest
            elif word == "boot" and rest in BOOTS:
                self.how = rest
            elif word == "append":
                self.append.append(rest)
            elif not line.startswith("#"):
                raise ValueError(f"{path}: {line}")

    def start(self, folder, job):
        """QEMU's options that start the job, and icount's shift."""
        words = " ".join(["output=framed", *self.append, *(["--", *job] if job else [])])
        if self.how == "uefi":
            append = [w for word in self.append for w in ("--append", word)]
            return [*firmware(self.arch), *make(folder, self.kind, job, "--arch", self.arch, *append)], qemu.icount_shift(self.arch, "uefi")
        if self.how == "pvh":
            return ["-kernel", ROOT / "build/x86_64/kernel.elf", "-append", words], 0
        from loaders import from_linux  # it fetches packages
        return from_linux.kexec(self.arch, None, "-c", [], folder, words), 6


def run(machine, job):
    name = f"{machine.name}: {job[0] if job else 'default suite'}"
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        options, shift = machine.start(folder, job)
        log, status = boot(folder, machine.arch, [*machine.options, *options], shift)
        equal(f"{name}: the machine is turned off", status, 0)
        status, records, said = read(folder, log)
        why = [f"status {status}", *said[-3:], *tail(folder, log)]
    if job:
        check(f"{name}: it counts {len(records)} rows", [] if status == 0 and records and not spins(records) else [*spins(records), *why])
        return
    ran = {r["payload"] for r in records}
    cpus = int(re.search(r"\d+", machine.options[machine.options.index("-smp") + 1])[0])
    equal(f"{name}: the records name boot protocol and CPUs", {(r["machine"]["boot"], r["machine"]["cpus"]) for r in records}, {(BOOTS[machine.how], cpus)})
    check(f"{name}: all programs counted", [] if status == 0 and ran >= SUITE and not spins([r for r in records if r["payload"] == "spin"]) else [str(ran), *why])


def main():
    build()
    names = sys.argv[1:] or (sorted(path.name for path in MACHINES.iterdir()) if CAMPAIGN else IN_CHECK)
    for machine in [Machine(MACHINES / name) for name in names]:
        if machine.how != "kexec":  # Linux takes two minutes of CPU time before; spin is part of the suite
            run(machine, SPIN)
        run(machine, [])
    end()


if __name__ == "__main__":
    sys.exit(main())
