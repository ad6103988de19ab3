#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`barecpc disk` makes what clouds import, and each format boots from each kind of disk; its records are those of `barecpc run`.

Foreign witnesses: qemu-img, GNU tar, sgdisk, and the firmware that boots.  The campaign boots each format from each kind of disk
on both architectures, `make check` one on each.
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cloud import CAMPAIGN, ROOT, SUFFIX, barecpc, boot, build, firmware, make, read, spins, tail, unpack
from host.emulator import qemu
from tap import check, end, equal

MIB, GIB = 1 << 20, 1 << 30
DRIVES = {
    "NVMe": ["-device", "nvme,serial=cloud,drive=disk"],
    "virtio-scsi": ["-device", "virtio-scsi-pci", "-device", "scsi-hd,drive=disk"],
    "virtio-blk": ["-device", "virtio-blk-pci,drive=disk"],
}
MACHINE = {"x86_64": ["-M", "q35", "-cpu", qemu.CPU_MAX_PMU], "arm64": ["-M", "virt,gic-version=3", "-cpu", "max,cntfrq=1000000000"]}
IN_CHECK = {("x86_64", "vhd", "virtio-scsi"), ("arm64", "gce", "virtio-blk")}  # tests/cli/cloud/clouds.py boots from NVMe
# From virtio-scsi the suite runs, packed, and only the last 64 KB of the log are read: as many as AWS keeps.
JOBS = {drive: ["spin", "-r", "2", "-w", "0"] for drive in DRIVES} | {"virtio-scsi": ["pack"]}
KEPT = 64 << 10
TELL_MACHINE = {"machine", "tick", "hrtime_ns", "read_cost", "conditions"}  # the members that a machine's speed and parts change
HELP = "; see barecpc disk --help"
MISTAKES = [
    (["-o", "x"], "host: the following arguments are required: --for" + HELP),
    (["--for", "raw", "-o", ""], "host: argument -o: give a file's name, not an empty word" + HELP),
    (["--for", "raw", "-o", "x", "--env", "1"], "host: --env 1: not NAME=VALUE" + HELP),
    (["--for", "gce", "-o", "x.tgz"], "host: -o x.tgz: gce takes only names that end in .tar.gz"),
    (["--for", "vhd", "-o", "x.img"], "host: -o x.img: vhd takes only names that end in .vhd"),
    (["--for", "raw", "-o", "/dev/null"], "host: -o /dev/null: not a file: name a new file"),
    (["--for", "raw", "-o", "none/x"], "host: -o none/x: none: no such folder"),
    (["--for", "raw", "-o", "x", "--payload", "none"],
     "host: --payload none: No such file or directory: name a program, a file, a folder or an archive"),
    (["--for", "raw", "-o", "x", "--payload", "large", "--payload", "huge"],
     "host: --payload huge: 4096 MiB in all, and a FAT volume has files of 4000M: make more disks"),
    (["--for", "raw", "-o", "x", "--payload", "text"], "host: --payload text: no program and no `suite`: name the program to run after --"),
    (["--for", "raw", "-o", "x", "--", "spin", "a\nb"], "host: a word of several lines: barecpc.cfg cannot hold it: use run --boot direct"),
]


def mistakes(folder):
    (folder / "text").write_text("no program\n")
    (folder / "x").write_text("old")
    for name in ("large", "huge"):
        (folder / name).touch()
        os.truncate(folder / name, 2 * GIB)
    before = sorted(os.listdir(folder))
    for words, line in MISTAKES:
        equal(f"disk {' '.join(words)}: one line".replace("\n", " "), barecpc(folder, "disk", *words), (125, "", [line]))
    equal("then an old file is as it was, and no other is left", [(folder / "x").read_text(), *sorted(os.listdir(folder))], ["old", *before])
    tools = folder / "tools"
    tools.mkdir()
    for name in ("qemu-img", "tar"):
        (tools / name).write_text("#!/bin/sh\necho first >&2; echo no space left >&2; exit 1\n")
        (tools / name).chmod(0o755)
    for kind in ("gce", "vhd"):
        equal(f"{kind}: its tool fails: its last line", barecpc(folder, "disk", "--for", kind, "-o", f"y.{SUFFIX[kind]}", env={
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}), (125, "", ["host: no space left"]))
    shutil.rmtree(tools)
    equal("and nothing is left", sorted(os.listdir(folder)), before)


def said(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
    return done.stdout + done.stderr


def formats(folder):
    """Both architectures on a disk of each format: what the tools of others find in them."""
    raws = {}
    for kind, suffix in SUFFIX.items():
        (folder / kind).mkdir()
        path = folder / f"a.{suffix}"
        words = ["disk", "--for", kind, "-o", path, "--append", "quiet=all", "--env", "A=b c", "--", "spin", "x y"]
        status, out, lines = barecpc(folder, *words)
        equal(f"{kind}: the command says what it made", (status, out, lines),
              (0, "", [f"host: {path}: {1024 if kind == 'gce' else 64} MiB: boots arm64 and x86_64 by UEFI"]))
        again = folder / f"b.{suffix}"
        words[4] = again
        barecpc(folder, *words, env={**os.environ, "TZ": "Asia/Tokyo", "TAR_OPTIONS": "", "GZIP": ""})
        equal(f"{kind}: the same input gives the same bytes", path.read_bytes() == again.read_bytes(), True)
        raws[kind] = unpack(folder / kind, kind, path)
        again.unlink()
    packed = gzip.decompress((folder / "a.tar.gz").read_bytes())
    equal("gce: a sparse member, disk.raw, of GNU tar's old format", (packed[:8], packed[156:157], packed[257:265]), (b"disk.raw", b"S", b"ustar  \0"))
    equal("gce: GNU tar lists it, with its size", said("tar", "--list", "-vzf", folder / "a.tar.gz").split()[2:], [str(GIB), "2024-01-01", "00:00", "disk.raw"])
    equal("gce: the disk has whole GiB", raws["gce"].stat().st_size, GIB)
    shown = said("qemu-img", "info", "--output=json", "-f", "vpc", folder / "a.vhd")
    equal("vhd: qemu-img finds whole MiB and no fault", [json.loads(shown).get(name) for name in ("format", "virtual-size")], ["vpc", 64 * MIB])
    equal("vhd: fixed: the disk and its footer", (folder / "a.vhd").stat().st_size, 64 * MIB + 512)
    equal("vhd: qemu-img unpacks the disk of --for raw", raws["vhd"].read_bytes() == raws["raw"].read_bytes(), True)
    for kind, raw in raws.items():
        found = said("sgdisk", "-v", raw)
        check(f"{kind}: sgdisk finds no problem", [] if "No problems found" in found else found.splitlines())
        with open(raw, "rb") as file:
            head = file.read(512)
        sectors = raw.stat().st_size // 512 - 1
        equal(f"{kind}: the MBR protects the whole disk", (head[450], head[454:462], head[466:]),
              (0xee, (1).to_bytes(4, "little") + sectors.to_bytes(4, "little"), bytes(44) + b"\x55\xaa"))
        env = {**os.environ, "MTOOLS_SKIP_CHECK": "1"}
        words = subprocess.run(["mtype", "-i", f"{raw}@@1M", "::/barecpc.cfg"], capture_output=True, text=True, check=False, env=env).stdout
        equal(f"{kind}: the job is in it", words, 'output=framed keep=no then=off deadline=1800 quiet=all "env.A=b c" -- spin "x y"\n')
        names = subprocess.run(["mdir", "-b", "-i", f"{raw}@@1M", "::/EFI/BOOT"], capture_output=True, text=True, check=False, env=env).stdout
        equal(f"{kind}: both applications are in it", sorted(names.split()), ["::/EFI/BOOT/BOOTAA64.EFI", "::/EFI/BOOT/BOOTX64.EFI"])


def told(records):
    return [{name: value for name, value in r.items() if name not in TELL_MACHINE} for r in records]


def boots(folder, arch, kind, drive):
    """The payload, the image's spin as a user's file, says the architecture."""
    name, job = f"{arch}: {kind} by {drive}", JOBS[drive]
    options = [*MACHINE[arch], *firmware(arch), *make(folder, kind, job, "--payload", ROOT / "build" / arch / "bin" / "spin"), *DRIVES[drive]]
    log, status = boot(folder, arch, [*options, "-serial", "chardev:log"], qemu.icount_shift(arch, "uefi"))
    equal(f"{name}: the machine is turned off", status, 0)
    if job == ["pack"]:
        log.write_bytes(log.read_bytes()[-KEPT:])
        job = []
    status, records, lines = read(folder, log)
    wrong = spins([r for r in records if r["payload"] == "spin"])
    check(f"{name}: spin counts", [] if status == 0 and not wrong else [f"status {status}", *wrong, *lines[-3:], *tail(folder, log)])
    results = folder / "run.jsonl"
    barecpc(folder, "run", "--arch", arch, "--accel", "tcg", "--results", results, *(["--", *job] if job else []))
    wanted = [json.loads(line) for line in results.read_text().splitlines()]
    differ = [f"{a}\n# {b}"[:600] for a, b in zip(told(records), told(wanted)) if a != b]
    check(f"{name}: the {len(wanted)} records of barecpc run", differ[:1] or [f"{len(records)} records"] * (len(records) != len(wanted)))


def main():
    build()
    with tempfile.TemporaryDirectory() as name:
        mistakes(pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        formats(pathlib.Path(name))
    for arch in MACHINE:
        for kind in SUFFIX:
            for drive in DRIVES:
                if CAMPAIGN or (arch, kind, drive) in IN_CHECK:
                    with tempfile.TemporaryDirectory() as name:
                        boots(pathlib.Path(name), arch, kind, drive)
    end()


if __name__ == "__main__":
    sys.exit(main())
