#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib:tests/cli/boot python3 -B
"""Bochs is a witness of clocks: its TSC runs at the rate of its configuration, whatever CPUID.15H of the model says.

The kernel believes the clocks, and says who differs.  GRUB starts it from a disk, because Bochs starts no kernel itself."""

import pathlib
import re
import struct
import subprocess
import tempfile
import time

import tap
from loaders.machine import build
from loaders.media import grub_image, loaders

HZ = 50_000_000
LIMIT = 1800  # seconds
ENDED = re.compile(rb"\nbarecpc: exit \d+\r?\n")
WORDS = "output=text deadline=600 -- spin -n"
HEADS, SECTORS, CYLINDERS = 16, 63, 64
VOLUME = (CYLINDERS - 8) * HEADS * SECTORS  # sectors of the volume; GRUB's core image comes after it
BPB = slice(3, 0x3e)  # the volume's description in the boot sector, which GRUB's boot sector leaves out
# The sector of the core image in GRUB's boot sector, and that of the core image's rest in its first sector.
CORE, REST = slice(0x5c, 0x64), slice(0x1f4, 0x1fc)
CONFIG = """
cpu: model={model}, count=2, ips={hz}
megs: 256
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=disk, path=disk, mode=flat, cylinders={cylinders}, heads={heads}, spt={sectors}
boot: disk
com1: enabled=1, mode=file, dev=com1
display_library: rfb, options="timeout=0"
clock: sync=none
log: log
"""
CLOCK = re.compile(r"\ncpu: TSC (\d+) Hz by HPET, within (\d+) ppm, (.*), timer by TSC deadline\n")
# The second source of the rate, and the line about a difference.
MODELS = {"corei7_skylake_x": ("the ACPI PM timer agrees", ""),
          "tigerlake": ("CPUID.15H differs", "cpu: the TSC's rate is in doubt: CPUID.15H says 2419200000 Hz: correct the firmware\n")}


def make_disk(folder, words=WORDS, archive=None):
    disk = folder / "disk"
    disk.write_bytes(bytes(CYLINDERS * HEADS * SECTORS * 512))
    subprocess.run(["mformat", "-i", disk, "-T", str(VOLUME), "-h", str(HEADS), "-s", str(SECTORS), "::"], check=True)
    subprocess.run(["mcopy", "-i", disk, build("x86_64", "bzImage"), "::/k"], check=True)
    start = f"search --file --set=root /k\nlinux /k {words}\n"
    if archive:
        subprocess.run(["mcopy", "-i", disk, archive, "::/a"], check=True)
        start += "initrd /a\n"
    core = bytearray(grub_image(folder, "i386-pc", start + "boot\n").read_bytes())
    core[REST] = struct.pack("<Q", VOLUME + 1)
    sector = bytearray((loaders() / "usr/lib/grub/i386-pc/boot.img").read_bytes())
    sector[CORE] = struct.pack("<Q", VOLUME)
    with open(disk, "r+b") as f:
        sector[BPB] = f.read(512)[BPB]
        f.seek(0)
        f.write(sector)
        f.seek(VOLUME * 512)
        f.write(core)


def boot(model, folder):
    """The text of the console.  Bochs has a debugger, which reads its first command from a file."""
    (folder / "config").write_text(CONFIG.format(model=model, hz=HZ, cylinders=CYLINDERS, heads=HEADS, sectors=SECTORS))
    (folder / "debugger").write_text("continue\n")
    com1 = folder / "com1"
    com1.unlink(missing_ok=True)
    with subprocess.Popen(["bochs-bin", "-q", "-unlock", "-f", "config", "-rc", "debugger"], cwd=folder, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as bochs:
        # Not each reset, which ends a run that failed, ends Bochs.
        end = time.monotonic() + LIMIT
        while bochs.poll() is None and time.monotonic() < end and not (com1.exists() and ENDED.search(com1.read_bytes())):
            time.sleep(1)
        bochs.kill()
    return com1.read_text(errors="replace") if com1.exists() else ""


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_disk(folder)
        for model, (witness, doubt) in MODELS.items():
            text = boot(model, folder).replace("\r", "")
            clock = CLOCK.search(text)
            good = clock and abs(int(clock[1]) - HZ) * 1_000_000 <= HZ * int(clock[2]) <= HZ * 1000 and clock[3] == witness and doubt in text
            tap.check(f"{model}: the clocks are believed: {witness}", [] if good else text.splitlines()[-8:] or ["silence"])
            tap.check(f"{model}: the TSCs are compared",
                      [] if re.search(r"\ncpu: the TSCs are equal within \d{1,4} ticks\n", text) else text.splitlines()[-8:] or ["silence"])
            tap.check(f"{model}: the run ends", [] if text.rstrip().endswith("\nbarecpc: exit 77") else text.splitlines()[-8:] or ["silence"])
    tap.end()


if __name__ == "__main__":
    main()
