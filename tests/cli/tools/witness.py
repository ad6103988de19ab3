#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Test programs of others end under the kernel as they do on Linux.

BARECPC_WITNESS names folders, joined by colons, of static programs, a test each.  Examples are musl's libc-test and LTP's system calls.
tests/programs/witness has those that may end otherwise, and why.  Programs of another machine must end with 0.
"""
import os
import pathlib
import re
import subprocess
import tempfile

import tap
from host import cpio
from host.emulator.qemu import HOST_ARCH

ROOT = pathlib.Path(__file__).resolve().parents[3]
MACHINES = {62: ("x86_64", "amd64"), 183: ("arm64", "arm64")}  # e_machine of ELF: ours, Debian's
AT_A_TIME = 40
ENV = {"PATH": "/:/bin", "LTP_COLORIZE_OUTPUT": "n", "KCONFIG_SKIP_CHECK": "y"}
LINE = "/bin/busybox timeout -s KILL 60 /{0} </dev/null >/tmp/o 2>&1; echo == {0} $?; grep -a FAIL /tmp/o | head -n 1; rm -rf /tmp/*\n"


def programs_of(folder):
    """Machine and path of each static program below."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        with open(path if path.is_file() else os.devnull, "rb") as file:
            head = file.read(4096)
        if head[:5] == b"\x7fELF\x02" and head[16:18] == b"\2\0" and b"/ld-" not in head:
            yield MACHINES[head[18]], path


def natively(path):
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return subprocess.run([path], cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env={**os.environ, **ENV}).returncode & 255
        except subprocess.TimeoutExpired:
            return 137


def in_the_kernel(arch, busybox, paths, folder):
    """The status of each program, and a line of what failed, by name."""
    files = {f"bin/{name}": busybox.read_bytes() for name in ("busybox", "sh", "echo", "cat", "true")}
    files |= {f"etc/{name}": pathlib.Path(f"/etc/{name}").read_bytes() for name in ("passwd", "group")} | {path.name: path.read_bytes() for path in paths}
    files["all.sh"] = ("alias grep='busybox grep' head='busybox head' rm='busybox rm'\n" + "".join(LINE.format(path.name) for path in paths)).encode()
    (folder / "all.cpio").write_bytes(cpio.pack(files))
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--accel", "tcg", "--qemu", "pmu", "--mem", "1500M", "--timeout", "1500", "--silence", "0",
                           *(f"--env={name}={value}" for name, value in ENV.items()), "--payload", folder / "all.cpio", "--", "bin/busybox", "sh", "all.sh"], capture_output=True)
    text = done.stdout.decode(errors="replace")
    return {name: (int(status), said) for name, status, said in re.findall(r"^== (\S+) (\d+)\n([^=].*)?", text, re.M)}, done.stderr.decode(errors="replace")


def main():
    folders = os.environ.get("BARECPC_WITNESS", "")
    if not folders:
        tap.skip("programs of others", "BARECPC_WITNESS names no folder of static test programs (musl's libc-test, LTP)")
        tap.end()
    cache = pathlib.Path(subprocess.run([ROOT / "scripts" / "setup", "--cache"], capture_output=True, text=True, check=True).stdout.strip())
    lines = [line.split(": ") for line in (ROOT / "tests" / "programs" / "witness").read_text().splitlines() if line[0] != "#"]
    causes = {name: cause for cause, names in lines for name in names.split()}
    found = sorted(program for folder in folders.split(":") for program in programs_of(folder))
    for machine in sorted(set(machine for machine, _ in found)):
        paths = [path for one, path in found if one == machine]
        for at in range(0, len(paths), AT_A_TIME):
            some = paths[at:at + AT_A_TIME]
            with tempfile.TemporaryDirectory(prefix="witness.") as folder:
                got, said = in_the_kernel(machine[0], cache / f"programs-{machine[1]}" / "bin" / "busybox", some, pathlib.Path(folder))
            for path in some:
                title, ended = f"{machine[0]}: {path.name}", got.get(path.name, (None, said[-300:]))
                if path.name in causes and ended[0] != 0:
                    tap.skip(title, f"the test needs {causes[path.name]}")
                else:
                    tap.check(title, [] if ended[0] == 0 or machine[0] == HOST_ARCH and ended[0] == natively(path) else [f"status {ended[0]}", *ended[1].splitlines()])
    tap.end()


main()
