"""Makes disks by `barecpc disk`, boots what is unpacked from them, and reads the log of the serial line."""

import json
import os
import pathlib
import re
import subprocess
import sys

from host.emulator import qemu

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIMIT_S = 900  # of elapsed time, for a machine that hangs
CAMPAIGN = os.environ.get("BARECPC_CAMPAIGN") == "yes"
SUFFIX = {"raw": "raw", "gce": "tar.gz", "vhd": "vhd"}
SPIN = 4000  # what spin counts at user privilege: tests/image


def build():
    """Bring the images up to date.  Then no command prints progress of a build."""
    if os.environ.get("BARECPC_BUILD") != "no":
        subprocess.run(["make", "-s", "-C", ROOT, "all"], stdout=sys.stderr, check=True)


def barecpc(folder, *words, **kinds):
    """Run the command.  Returns its status, standard output, and the lines of standard error."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "barecpc", *map(str, words)], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", **kinds)
    return done.returncode, done.stdout, done.stderr.splitlines()


def unpack(folder, kind, path):
    """The disk in a file of this kind, as the cloud unpacks it."""
    raw = folder / "unpacked" / "disk.raw"
    raw.parent.mkdir(exist_ok=True)
    if kind == "gce":
        subprocess.run(["tar", "-xzf", path, "-C", raw.parent], check=True)
    elif kind == "vhd":
        subprocess.run(["qemu-img", "convert", "-f", "vpc", "-O", "raw", path, raw], check=True)
    return path if kind == "raw" else raw


def make(folder, kind, job=(), *options):
    """Make a disk, and unpack it.  Returns QEMU's options for the drive `disk`."""
    path = folder / f"disk.{SUFFIX[kind]}"
    status, _, said = barecpc(folder, "disk", "--for", kind, "-o", path, *options, *(["--", *job] if job else []))
    if status:
        raise AssertionError("\n".join(said))
    return ["-drive", f"if=none,id=disk,format=raw,readonly=on,file={unpack(folder, kind, path)}"]


def firmware(arch):
    return ["-bios", qemu.ARCHS[arch].firmware, "-boot", "menu=on,splash-time=0"]


def boot(folder, arch, options, shift):
    """Boot until the machine is off.  Returns what the character device `log` got, as a file, and QEMU's status."""
    log = folder / "log"
    words = [qemu.find_qemu(arch, qemu.PMU), "-accel", "tcg", "-m", "512", "-display", "none", "-nodefaults", "-no-reboot", *qemu.SANDBOX,
             "-icount", f"shift={shift},sleep=off", "-chardev", f"file,id=log,path={log}", *map(str, options)]
    with open(folder / "qemu.log", "wb") as said:
        try:
            status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=LIMIT_S).returncode
        except subprocess.TimeoutExpired:
            status = None
    return log, status


def read(folder, log):
    """Run `barecpc read` on a log.  Returns its status, the records, the lines of standard error."""
    results = folder / "read.jsonl"
    results.unlink(missing_ok=True)
    status, _, said = barecpc(folder, "read", "--results", results, log)
    return status, [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else [], said


def spins(records):
    """Say why these records of spin are not right.  Each count is known."""
    counts = {(r["event"], r["privilege"]): r["count"] and r["count"]["net"] for r in records}
    return [] if counts.get(("PAPI_tot_ins", "user")) == SPIN and all(r["payload"] == "spin" for r in records) else [str(counts)]


def tail(folder, log):
    """The last lines of the log, without records, and of QEMU."""
    text = log.read_text(errors="replace") if log.exists() else ""
    lines = [re.sub(r"\x1b[^A-Za-z]*[A-Za-z]", "", line.strip("\r"))[:200] for line in text.splitlines() if not line.startswith("{")]
    return lines[-12:] + (folder / "qemu.log").read_text(errors="replace").splitlines()[-3:]
