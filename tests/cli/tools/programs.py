#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The programs of tests/programs/list run on both architectures, print what they must, and have the same records twice.

Words are names of programs to run alone.  The option --table prints a table of them.
"""
import configparser
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import tap

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = ROOT / "tests" / "programs"
# For each architecture: Debian's name, the prefix of its tools, Rust's target.
ARCHS = {"arm64": ("arm64", "aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
         "x86_64": ("amd64", "x86_64-linux-gnu", "x86_64-unknown-linux-gnu")}
MOST_SECONDS = 900


def words_of(arch, cache):
    """The environment of the build commands."""
    debian, tools, target = ARCHS[arch]
    root = cache / f"programs-{debian}"
    rustlib = f"{root}/usr/lib/rustlib/{target}"
    linker = f"-C linker={tools}-gcc -C target-feature=+crt-static"
    return {**os.environ, "CC": f"{tools}-gcc", "CXX": f"{tools}-g++", "FC": f"{tools}-gfortran", "GOARCH": debian, "GOOS": "linux",
            "RUST": f"/usr/bin/rustc --sysroot {root}/usr --target {target} {linker}", "rustlib": rustlib, "root": str(root),
            "source": str(cache / "programs-source"), "here": str(HERE), "tools": tools}


def expand(text, env):
    return re.sub(r"\$(\w+)", lambda m: env[m[1]], text)


def built(part, env, folder):
    """Build a program in the folder.  Returns its command line."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["sh", "-ec", part["build"]], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return shlex.split(part["run"])


def run(arch, part, words, folder, env):
    """Status, output, diagnostics, the count of a program in `barecpc stat`, and its records."""
    records = folder.with_suffix(".jsonl")
    records.unlink(missing_ok=True)
    payloads = [word for p in sorted(folder.iterdir()) if p.name != pathlib.Path(words[0]).name for word in ("--payload", p.name)]
    options = ["--sysroot", env["root"]] if "dynamic" in part else []
    done = subprocess.run([ROOT / "scripts" / "barecpc", "stat", "--arch", arch, "--accel", "tcg", "-e", "instructions:u", "--silence", "0",
                           "--qemu", "pmu", "--smp", part.get("smp", "1"), "--mem", "512M",
                           "--host-timeout", str(MOST_SECONDS), "--results", records, *options, *payloads, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    text = records.read_text() if records.exists() else ""
    counts = [row["count"]["net"] for row in map(json.loads, text.splitlines()) if row.get("count")]
    return done.returncode, done.stdout, done.stderr, counts[0] if counts else None, text


def missing(patterns, text):
    """The first pattern that no line matches after those of the patterns before it."""
    lines = iter(text.splitlines())
    for pattern in patterns:
        if not any(re.search(pattern, line) for line in lines):
            return [f"no line matches {pattern}", *text.splitlines()[-6:]]
    return []


def one(arch, name, part, env):
    """Build a program, run it twice, and check it.  Returns its count, or why it has no count."""
    title = f"{arch}: {name}"
    needs = expand(part.get("needs", ""), env)
    if needs and not shutil.which(needs) and not pathlib.Path(needs).exists():
        tap.skip(title, f"{needs} is absent: the distribution has no package of it, or no source package")
        return "skipped"
    folder = ROOT / "build" / "programs" / arch / name
    try:
        words = built(part, env, folder)
    except subprocess.CalledProcessError as error:
        tap.check(f"{title} is built", [str(error), *error.stderr.splitlines()[-6:]])
        return "not built"
    patterns = [line.strip("\n") for line in part["prints"].splitlines() if line]
    status, text, said, count, records = run(arch, part, words, folder, env)
    wrong = [f"status {status}", *said.splitlines()[-6:]] if status else []
    tap.check(f"{title} prints what it must", wrong + missing(patterns, text + said))
    again = run(arch, part, words, folder, env)
    wrong = [] if count and again[3:] == (count, records) else [f"{count}, then {again[3]}", records, again[4]]
    wrong += [] if again[:2] == (status, text) else [f"status {status}, then {again[0]}, or other output"]
    tap.check(f"{title} has the same records twice", wrong)
    return f"{count:,}" if count else "not counted"


def main():
    subprocess.run([ROOT / "scripts" / "setup", "--programs"], check=True)
    cache = pathlib.Path(subprocess.run([ROOT / "scripts" / "setup", "--cache"], capture_output=True, text=True, check=True).stdout.strip())
    parts = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#", inline_comment_prefixes=None)
    parts.read(HERE / "list")
    only = [word for word in sys.argv[1:] if not word.startswith("-")]
    for name in (name for name in parts.sections() if "build" in parts[name]):
        counts = [one(arch, name, parts[name], words_of(arch, cache)) for arch in ARCHS
                  if not only or name in only or f"{arch}:{name}" in only]
        if "--table" in sys.argv and counts:
            print(f"| {name} | {parts[name]['what']} | {' | '.join(counts)} |", file=sys.stderr)
    tap.end()


main()
