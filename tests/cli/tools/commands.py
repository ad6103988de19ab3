#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Commands print under `barecpc stat` what they print here, end with the same status, and count the same twice.

They are the rows `command-...` of tests/programs/list: those with `check`, or with BARECPC_CAMPAIGN=yes all.  Words are names of
rows.  On arm64 they are those of Debian's packages for it, by --sysroot, and print what they print in qemu-aarch64.  A table of
the counts is at the end.
"""
import configparser
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import tap
from host.emulator.qemu import HOST_ARCH
from host.programs import linux

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILES = {
    "numbers": "".join(f"{i * 7919 % 1009} w{i % 17}\n" for i in range(1, 301)),
    "numbers.bc": "scale=30; 4*a(1); e(1)\nquit\n",
    "names.json": '{"a":[1,2,{"b":"x"}],"c":null}\n',
    "square.c": "int square(int n)\n{\n\tint s = 0;\n\tfor (int i = 0; i < n; i++)\n\t\ts += n;\n\treturn s;\n}\n",
    "square.m4": "define(`sq',`eval($1*$1)')sq(12)\n",
    "square.s": "square: ret\n",
    "rules": "all: out\nout: numbers\n\tsort numbers > /tmp/commands.out; wc -l < /tmp/commands.out; rm -f /tmp/commands.out\n",
}


def counted(words, options, folder):
    """Status, output, diagnostics and count."""
    records = folder.with_suffix(".jsonl")
    records.unlink(missing_ok=True)
    done = subprocess.run([ROOT / "scripts" / "barecpc", "stat", "--accel", "tcg", "--qemu", "pmu", "--mem", "1G", "--host-timeout", "900", "--silence", "0",
                           "-e", "instructions", "--results", records, *options, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    rows = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
    return done.returncode, done.stdout, done.stderr, next((row["count"]["net"] for row in rows if row.get("count")), None)


def one(name, part, folder, root):
    """Returns the count.  root: of the packages for arm64, or None: a command of this machine."""
    words = shlex.split(part["run"])
    there = linux.Root(root)
    needs = [words[0], *part.get("with", "").split()]
    if lacks := [need for need in needs if not there.program(need) and not os.path.exists(there.top + need)]:
        tap.skip(name, f"{root or 'this machine'} has no {lacks[0]}")
        return "skipped"
    emulated = ["qemu-aarch64", "-L", str(root), "-0", words[0], there.file(there.program(words[0])), *words[1:]] if root else words
    native = subprocess.run(emulated, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, env={"PATH": os.environ["PATH"]})
    files = [file for file in FILES if file in part["run"]] + (["numbers"] if "rules" in part["run"] else [])
    options = [word for file in [*files, *part.get("with", "").split(), *(["rm"] if "make" in name else [])] for word in ("--with", file)]
    options += ["--arch", "arm64", "--sysroot", str(root)] if root else []
    status, text, said, count = counted(words, options, folder)
    same = (status, text) == (native.returncode, native.stdout)
    tap.check(f"{name}: as here", [] if same else [f"status {status}, here {native.returncode}", *map(repr, said.splitlines()[-6:]), repr(text[-200:])])
    again = counted(words, options, folder)
    tap.check(f"{name}: the same twice", [] if count and again[3] == count and again[1] == text else [f"{count}, then {again[3]}"])
    return f"{count:,}" if count else "not counted"


def small_root(cache, root):
    """Make a root of the unpacked commands of `make check`, which need the C library alone.  It needs all of them."""
    packages = [cache / f"{name}-arm64" for name in ("dash", "gzip")]
    libraries = [pathlib.Path("/usr/aarch64-linux-gnu/lib") / name for name in ("ld-linux-aarch64.so.1", "libc.so.6")]
    if all(path.exists() for path in packages + libraries):
        for package in packages:
            shutil.copytree(package, root, symlinks=True, dirs_exist_ok=True)
        (root / "lib").mkdir(exist_ok=True)
        for file in libraries:
            shutil.copy(file, root / "lib")


def setup(word):
    return subprocess.run([ROOT / "scripts" / "setup", word], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main():
    parts = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#", inline_comment_prefixes=None)
    parts.read(ROOT / "tests" / "programs" / "list")
    campaign = os.environ.get("BARECPC_CAMPAIGN") == "yes"
    names = [name for name in parts.sections() if name.startswith("command-") and (name in sys.argv[1:] if sys.argv[1:] else
             parts[name].get("check") or campaign)]
    if HOST_ARCH != "x86_64":
        tap.skip("commands", "the test needs x86-64: its rows have the paths of that machine")
        names = []
    with tempfile.TemporaryDirectory(prefix="commands.", dir=ROOT / "build") as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        table = {name: [one(name.removeprefix("command-"), parts[name], pathlib.Path(folder), None), ""] for name in names}
        cache = pathlib.Path(setup("--cache"))
        others = [name for name in names if parts[name].get("arm64") and (campaign or sys.argv[1:] or parts[name]["arm64"] == "check")]
        if others and campaign:
            setup("--programs")
        root = cache / "programs-arm64" if campaign or sys.argv[1:] else pathlib.Path(folder) / "root"
        if not (campaign or sys.argv[1:]):
            small_root(cache, root)
        if others and not (root.is_dir() and shutil.which("qemu-aarch64")):
            tap.skip("arm64", "no programs for it here: run scripts/setup --optional, for the campaign --programs")
            others = []
        for name in others:
            table[name][1] = one(f"arm64 {name.removeprefix('command-')}", parts[name], pathlib.Path(folder), root)
    for name, counts in table.items():
        print(f"# | {name.removeprefix('command-')} | {' | '.join(counts)} |")
    tap.end()


main()
