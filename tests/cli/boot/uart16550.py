#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""arm64 prints on a 16550 UART that the device tree names, as Firecracker's tree does.

QEMU's virt machine has no such UART, but its PCI one has the same registers.  QEMU's test protocol places them at a fixed
address in memory before the first instruction.  A changed copy of QEMU's device tree names that address."""

import pathlib
import subprocess
import tempfile

import qtest_guest
import tap

MACHINE = "virt,gic-version=3,dtb-randomness=off"

# QEMU's virt machine: PCI's configuration space, and the window of I/O ports.
ECAM, PORTS = 0x4010000000, 0x3eff0000
DEVICE = ECAM + (1 << 15)  # device 1 of bus 0
COMMAND, BAR0 = DEVICE + 0x04, DEVICE + 0x10
PORT = 0x1000
UART, EMPTY = PORTS + PORT, PORTS + 0x2000


def tree(folder, name, *edits):
    """A copy of QEMU's tree, changed by fdtput."""
    full, changed = folder / "full.dtb", folder / name
    if not full.exists():
        subprocess.run(["qemu-system-aarch64", "-cpu", "max", "-m", "256", "-display", "none", "-nodefaults",
                        "-M", f"{MACHINE},dumpdtb={full}"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dtb", "-p", "4096", "-o", changed, full], check=True)
    for edit in edits:
        options = [w for w in edit if w.startswith("-")]
        values = [w for w in edit if not w.startswith("-")]
        types = ["-t", "x"] if values[1:2] == ["reg"] else ["-t", "s"] if len(values) > 2 else []
        subprocess.run(["fdtput", *options, *types, changed, *values], check=True)
    return changed


def uart(address):
    node = f"/uart@{address:x}"
    return [("-c", node), (node, "compatible", "ns16550a"), (node, "reg", "0", f"{address:x}", "0", "1000")]


def boot(folder, dtb):
    """Returns what the 16550 and the PL011 printed."""
    pl011 = folder / "pl011"
    options = ["-M", MACHINE, "-cpu", "max", "-dtb", str(dtb), "-append", "output=text -- encode --help", "-chardev", "stdio,id=out",
               "-device", "pci-serial,chardev=out,addr=1", "-serial", f"file:{pl011}"]
    text, _ = qtest_guest.run(folder, dtb.name, options, [f"writel {BAR0:#x} {PORT:#x}", f"writew {COMMAND:#x} 1"])
    return text.decode(errors="replace"), pl011.read_text(errors="replace")


def check(name, good, text):
    tap.check(name, [] if good else text.splitlines()[-8:] or ["nothing was printed"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        out, other = boot(folder, tree(folder, "named.dtb", *uart(UART), ("/chosen", "stdout-path", f"/uart@{UART:x}")))
        check("the UART of stdout-path has the log from its start", out.startswith("barecpc: arm64"), out)
        check("it has the program's output", "usage: encode" in out, out)
        check("it has the last line", out.rstrip().endswith("barecpc: exit 0"), out)
        check("the other UART has nothing", other == "", other)

        # Firecracker's tree has one UART, and no stdout-path.
        out, other = boot(folder, tree(folder, "only.dtb", *uart(UART), ("-r", "/pl011@9000000"), ("-d", "/chosen", "stdout-path")))
        check("the only UART of a virtual machine is the console", out.rstrip().endswith("barecpc: exit 0"), out + other)

        # The next is the same device, as the 16550 on PCI.
        out, other = boot(folder, tree(folder, "empty.dtb", *uart(EMPTY), ("/chosen", "stdout-path", f"/uart@{EMPTY:x}")))
        check("an empty address is reported",
              f"cpu: console: nothing answers at {EMPTY:#x}: correct the UART's address in the device tree" in out, out + other)
    tap.end()


if __name__ == "__main__":
    main()
