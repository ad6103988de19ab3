#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A record says which machine it is from: firmware's names by SMBIOS, the hypervisor, the CPU.

The image boots in plain QEMU, without the words that `scripts/barecpc run` passes.  The names that QEMU puts into SMBIOS are
hostile: they try to end their JSON string and their line."""

import json
import re
import struct
import subprocess
import sys
import tempfile

import schema
from qmp_guest import ROOT, Points, console, qemu

BOARD = {"arm64": ["qemu-system-aarch64", "-M", "virt,gic-version=3"], "x86_64": ["qemu-system-x86_64", "-M", "q35"]}
EFI = {"arm64": "BOOTAA64.EFI", "x86_64": "BOOTX64.EFI"}
HOSTILE = ["-smbios", 'type=1,manufacturer=a\nbarecpc: exit 9\n,product=Box 13" \\,version=  2  ,serial=SECRET',
           "-smbios", "type=2,manufacturer=Boards,product=" + "x" * 100, "-smbios", "type=17,manufacturer=Dimms,speed=2933,serial=SECRET"]
DIMM = {"count": 1, "kib": 256 << 10, "type": "RAM", "mts": 2933, "mts_most": 2933, "dimm_maker": "Dimms"}
EDK2 = "OVMF|EDK II"  # by Debian 12, by Debian 13
NAMES = {"maker": "a?barecpc: exit 9?", "product": 'Box 13" \\', "product_version": "2", "board_maker": "Boards", "board": "x" * 64}


# ACPI's WDAT for q35's TCO timer, which runs out of reset: bit 11 of port 668H halts it.  Actions 8 (does it run?) and 11 (stop).
WDAT = (struct.pack("<IHBBB3xIIIB3xI", 32, 0xff, 0xff, 0xff, 0xff, 600, 1023, 4, 1, 2) +
        b"".join(struct.pack("<BBHBBBBQII", action, insn, 0, 1, 16, 11, 2, 0x668, value, 1)
                 for action, insn, value in ((8, 0, 0), (11, 0x82, 1))))


def boot(arch, uefi, *options, words="", board=()):
    """The machine member of a record of `spin`, the exit number, and what is not as the schema has it."""
    build = ROOT / "build" / arch
    command = [*(board or BOARD[arch]), "-accel", "tcg", "-cpu", "max", "-m", "256", "-display", "none", "-nodefaults",
               "-serial", "stdio", "-no-reboot", "-boot", "menu=on,splash-time=0", *options,
               "-kernel", str(build / (EFI[arch] if uefi else qemu.ARCHS[arch].image)),
               "-append", f"output=framed {words} -- spin -r 1 -w 0"]
    if uefi:
        command += ["-bios", qemu.ARCHS[arch].firmware]
    records = []
    parser = console.Console(lambda stream, data: records.append(data) if stream == "json" else None, lambda line: None)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    parser.feed(done.stdout)
    parser.close()
    if not records:
        print(f"Bail out! {arch}: no record; {done.stderr[-300:]}")
        sys.exit(1)
    return json.loads(records[0])["machine"], parser.exit, schema.faults(map(json.loads, records))


def main():
    points = Points()
    for arch, uefi, firmware in (("x86_64", False, "SeaBIOS"), ("x86_64", True, EDK2), ("arm64", True, EDK2)):
        name = f"{arch}, {'UEFI' if uefi else 'BIOS'}"
        with tempfile.NamedTemporaryFile() as wdat:
            wdat.write(WDAT)
            wdat.flush()
            acpi = ["-acpitable", f"sig=WDAT,data={wdat.name}"] if arch == "x86_64" else []
            machine, ended, faults = boot(arch, uefi, *HOSTILE, *acpi)
        if acpi:
            points.check(machine.get("watchdog") == "stopped", f"{name}: the watchdog that runs is stopped", str(machine.get("watchdog")))
        points.check(not faults, f"{name}: the record is as the schema has it", str(faults))
        smbios = machine.get("smbios", {})
        points.check(re.search(firmware, smbios.get("firmware_vendor", "")) and {"firmware_version", "firmware_date"} < set(smbios),
                     f"{name}: the firmware is named", str(smbios))
        points.check({key: smbios.get(key) for key in NAMES} == NAMES, f"{name}: machine and board are named, cleaned", str(smbios))
        points.check(smbios.get("dimms") == [DIMM], f"{name}: the memory module is named", str(smbios.get("dimms")))
        points.check("SECRET" not in str(machine), f"{name}: without the serial number")
        points.check(ended in (0, 77), f"{name}: no name fakes a line", f"exit {ended}")
        wanted = "tcg" if arch == "x86_64" else "unknown"
        points.check(machine["vmm"] == wanted and machine["host"] == {}, f"{name}: unknown to the host, the emulator is {wanted}",
                     f"{machine['vmm']} {machine['host']}")

    machine, _, faults = boot("arm64", False, *HOSTILE, "-cpu", "neoverse-n1")
    points.check(not faults, "arm64, no UEFI: the record is as the schema has it", str(faults))
    points.check("smbios" not in machine, "arm64, no UEFI: the member is absent", str(machine.get("smbios")))
    points.check(machine["vmm"] == "unknown", "arm64, no UEFI: the emulator is unknown", machine["vmm"])
    points.check(machine["cpu"] == "Neoverse-N1" and machine["midr"] == "0x414fd0c1" and machine["revidr"] == "0",
                 "arm64: the CPU is named by its part number", str(machine))
    machine, *_ = boot("arm64", False, "-cpu", "a64fx", words="host.accel=tcg")
    points.check(machine["cpu"] == "A64FX", "arm64: so is one of another maker", machine["cpu"])
    points.check(machine["vmm"] == "tcg", "arm64: the host names the emulator", machine["vmm"])
    cpu = "Skylake-Client,check=off,vendor=ab\"cd\\\\efghij,model-id=  Two   words "
    machine, *_ = boot("x86_64", False, "-cpu", cpu.replace("\\\\", "\\"), board=["qemu-system-x86_64", "-M", "microvm"])
    points.check((machine["cpu"], machine["vendor"]) == ("Two words", "ab\"cd\\efghij") and
                 (machine["family"], machine["model"]) == (6, 94), "x86_64: the CPU is named by brand, family and model", str(machine))
    # The firmware of QEMU 10.0's microvm makes a table of its own.
    points.check(machine.get("smbios", {"maker": "Bochs"})["maker"] == "Bochs",
                 "x86_64, microvm: it has no SMBIOS, the member is absent", str(machine.get("smbios")))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
