#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The image runs as a guest that Xen starts by itself (dom0less), with the UART that Xen emulates (vpl011) as its console.

Xen is Debian 13's, at EL2 of QEMU's virt machine.  Xen, docs/features/dom0less.pandoc and
docs/misc/arm/device-tree/booting.txt: the nodes below /chosen."""

import json
import pathlib
import subprocess
import sys
import tempfile
import threading

from qmp_guest import ROOT, Points

MACHINE = ["qemu-system-aarch64", "-M", "virt,virtualization=on,gic-version=3", "-cpu", "max", "-m", "1G", "-display", "none"]
KERNEL, ARCHIVE, MEMORY_KIB, SECONDS = 0x49000000, 0x4A000000, 0x40000, 300
BUILD = ROOT / "build/arm64"


def put(tree, kind, *words):
    subprocess.run(["fdtput", "-p", "-t", kind, tree, *(f"{w:x}" if isinstance(w, int) else w for w in words)], check=True)


def module(tree, guest, kind, at, path):
    node = f"{guest}/module@{at:x}"
    subprocess.run(["fdtput", "-c", tree, node], check=True)
    put(tree, "s", node, "compatible", f"multiboot,{kind}", "multiboot,module")
    put(tree, "x", node, "reg", 0, at, 0, path.stat().st_size)
    return node


def make_tree(folder):
    """QEMU's tree with a guest."""
    full, tree, guest = folder / "full", folder / "tree", "/chosen/domU1"
    subprocess.run([*MACHINE, "-machine", f"dumpdtb={full}"], check=True, capture_output=True)
    subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dtb", "-p", "8192", "-o", tree, full], check=True)
    put(tree, "s", "/chosen", "xen,xen-bootargs", "console=dtuart dtuart=/pl011@9000000 bootscrub=0")
    subprocess.run(["fdtput", "-c", tree, guest], check=True)
    put(tree, "s", guest, "compatible", "xen,domain")
    for node in ("/chosen", guest):
        put(tree, "x", node, "#address-cells", 2)
        put(tree, "x", node, "#size-cells", 2)
    put(tree, "x", guest, "memory", 0, MEMORY_KIB)
    put(tree, "x", guest, "cpus", 2)
    subprocess.run(["fdtput", tree, guest, "vpl011"], check=True)
    put(tree, "s", module(tree, guest, "kernel", KERNEL, BUILD / "Image"), "bootargs", "output=text -- spin")
    module(tree, guest, "ramdisk", ARCHIVE, BUILD / "archive.cpio")
    return tree


def run(xen, tree):
    """The guest's lines.  Xen goes on after its guest's end, so QEMU is stopped then, or after a while."""
    files = [word for at, name in ((KERNEL, "Image"), (ARCHIVE, "archive.cpio"))
             for word in ("-device", f"loader,file={BUILD / name},addr={at:#x},force-raw=on")]
    lines = []
    with subprocess.Popen([*MACHINE, "-accel", "tcg", "-smp", "2", "-nodefaults", "-serial", "stdio", "-kernel", xen, "-dtb", tree, *files],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        limit = threading.Timer(SECONDS, process.kill)
        limit.start()
        for line in process.stdout:
            lines.append(line.strip().removeprefix("(XEN) "))
            if lines[-1].startswith("barecpc: exit"):
                break
        limit.cancel()
        process.kill()
    return lines


def main():
    points = Points()
    done = subprocess.run([ROOT / "scripts/setup", "--xen"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        points.skip("a guest of Xen", "it needs a package of Debian 13, which cannot be fetched")
        return points.end()
    xen = next(path for path in (pathlib.Path(done.stdout.strip()) / "boot").glob("xen-*-arm64") if path.is_file())
    with tempfile.TemporaryDirectory() as folder:
        lines = run(xen, make_tree(pathlib.Path(folder)))
    points.check(any(line.startswith("barecpc: arm64, version ") for line in lines) and lines[-1] == "barecpc: exit 77",
                 "the console is the UART that Xen emulates, and the run ends", *lines[-8:])
    points.check("cpu: 2 online" in lines, "both CPUs start", *lines[-8:])
    records = [json.loads(line) for line in lines if line.startswith('{"schema"')]
    points.check(records and all(r["verified"] and r["machine"]["vmm"] == "xen" for r in records), "its records name Xen", *lines[-8:])
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
