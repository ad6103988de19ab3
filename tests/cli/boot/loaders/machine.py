"""Boots a machine by one route, and judges what its console says."""

import dataclasses
import pathlib
import re
import subprocess
import threading

from host import cpio
from host.emulator import qemu

ROOT = pathlib.Path(__file__).resolve().parents[4]

OVMF, AAVMF = "/usr/share/ovmf/OVMF.fd", "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"
LIMIT_S = 900  # of elapsed time, for a machine that hangs
SPIN = 4000  # what spin counts at user privilege: tests/image
WORDS = "output=text -- spin"
EFI = {"x86_64": "BOOTX64.EFI", "arm64": "BOOTAA64.EFI"}
IMAGE = {"x86_64": "bzImage", "arm64": "Image"}
# Firmware waits by the clock, so an instruction takes long.
COMMON = {
    "x86_64": ["-M", "q35", "-icount", "shift=6,sleep=off", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
    "arm64": ["-M", "virt,gic-version=3", "-icount", "shift=2,sleep=off", "-boot", "menu=on,splash-time=0"],
}
PASSED = {"x86_64": 33, "arm64": 0}  # QEMU's status: isa-debug-exit, or the machine was turned off


@dataclasses.dataclass(frozen=True)
class Route:
    """One way to start the image.  `options` makes QEMU's options, given a folder for files."""

    arch: str
    firmware: str
    loader: str
    options: object
    via: str = "uefi"  # the protocol that the record names
    check: bool = False  # cheap enough for make check

    @property
    def name(self):
        return f"{self.arch}: {self.firmware}: {self.loader}"


def build(arch, name):
    return ROOT / "build" / arch / name


def suite_archive(folder):
    """A second archive.  It has another suite, so only spin runs if the loader hands it over."""
    path = pathlib.Path(folder) / "suite.cpio"
    path.write_bytes(cpio.pack({"suite": b"spin\n"}))
    return path


def make_disk(arch, folder):
    """The disk image of make disk, with the archive and barecpc.cfg on it."""
    image = pathlib.Path(folder) / "disk.img"
    subprocess.run([ROOT / "scripts/mkdisk", "--efi", build(arch, EFI[arch]), "--cmdline", "output=text", "--archive",
                    suite_archive(folder), image], check=True)
    return image


def command(arch, options, common=None):
    return [qemu.find_qemu(arch, qemu.PMU), *(COMMON[arch] if common is None else common), "-accel", "tcg", "-cpu", "max",
            "-m", "512", "-display", "none", "-nodefaults", "-serial", "stdio", "-no-reboot", *map(str, options)]


helpers = []


def helper(words):
    """Start a program that the next machine needs.  boot() ends it."""
    helpers.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return helpers[-1]


def boot(arch, options):
    """Run QEMU.  Return its status and the console's text.  End its helpers."""
    words = command(arch, options)
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    finally:
        while helpers:
            process = helpers.pop()
            process.kill()
            process.wait()
    return done.returncode, done.stdout.decode(errors="replace").replace("\r", "")


def wrong(route, status, text):
    """Say why the run is not right, or return ''."""
    rows = re.findall(r"^(\S+) +PAPI_tot_ins:u +(\S+)", text, re.M)
    via = set(re.findall(r'"boot":"([^"]*)"', text))
    if status != PASSED[route.arch]:
        return f"QEMU's status is {status}, not {PASSED[route.arch]}"
    lines = [line for line in text.splitlines() if line and not line.startswith("qemu-system")]
    if not lines or lines[-1] != "barecpc: exit 0":
        return "the last line is not: barecpc: exit 0"
    if not rows or {count for _, count in rows} != {str(SPIN)} or {label.split("/")[0] for label, _ in rows} != {"spin"}:
        return f"only spin should run and count {SPIN}: {rows[:4]}"
    return "" if via == {route.via} else f"the records name {via}, not {route.via}"


def prints(arch, options, text, common=None):
    """Run QEMU until it prints the text.  Return what it printed, or "" if that line does not come."""
    words = command(arch, options, common)
    seen = b""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as guest:
        timer = threading.Timer(LIMIT_S, guest.kill)
        timer.start()
        while text.encode() not in seen and (part := guest.stdout.read1()):
            seen += part
        guest.kill()
        timer.cancel()
    return seen.decode(errors="replace") if text.encode() in seen else ""
