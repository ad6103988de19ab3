"""Brings what a command needs up to date by make, unless nothing has changed since make did so last.

Make takes 0.2 s of CPU time to find that nothing has changed, as long as a whole run of a small program.
"""

import contextlib
import fcntl
import os
import subprocess
import sys

from host import files
from host.emulator import qemu

SOURCES = ("Makefile", "VERSION", "arch", "boot", "cpc", "dev", "events", "include", "kern", "lib", "payloads", "scripts",
           "tests/opcost")  # a program of the image
VARIABLES = ("EVENTS", "LIBPFM4", "SOURCE_DATE_EPOCH")  # of the Makefile
TOOLS = ("encode", "list", "fits")


def _sources():
    return [f"{name}={os.environ.get(name)}" for name in VARIABLES] + [line for name in SOURCES for line in files.times(qemu.ROOT / name)]


def _made(arch, target):
    """The lines of what make has made: of the files that commands take from build/."""
    archs, names = [arch] if arch else sorted(qemu.ARCHS), []
    if target == "all":
        names = [qemu.build_file(one, name) for one in archs for name in (qemu.ARCHS[one].image, qemu.ARCHS[one].efi, "vendors")]
    elif target == "host-tools":
        names = [qemu.ROOT / "build" / "host" / tool for tool in TOOLS]
    else:
        names = [qemu.ROOT / target]
    return [line for name in names for line in files.times(name)]


def build(arch, target):
    """Bring a target up to date.  Prints nothing if it is.  A lock makes two builds take turns.

    What is installed has no Makefile, and is complete.
    """
    if os.environ.get("BARECPC_BUILD") == "no" or not (qemu.ROOT / "Makefile").exists():
        return
    folder = qemu.ROOT / "build"
    kept, before = folder / f"made.{arch}.{os.path.basename(target)}", _sources()
    with contextlib.suppress(OSError):
        if kept.read_text(errors="surrogateescape").splitlines() == before + _made(arch, target):
            return
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")} | {"BARECPC_LOCKED": "yes"}
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["make", "-s", "--no-print-directory", "-C", str(qemu.ROOT), f"ARCH={arch}", target]
        try:
            status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=env).returncode
        except FileNotFoundError:
            raise qemu.missing("make") from None
        if status != 0:
            raise qemu.HostError(f"make ARCH={arch} {target} failed")
        with contextlib.suppress(OSError):
            kept.write_text("".join(f"{line}\n" for line in before + _made(arch, target)), errors="surrogateescape")
