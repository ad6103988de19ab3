#!/usr/bin/env python3
"""arm64 prints on a 16550 UART that the device tree names, as Firecracker's tree does.

QEMU's virt machine has no such UART, but its PCI one has the same registers.  QEMU's test protocol places them at a fixed
address in memory before the first instruction.  A changed copy of QEMU's device tree names that address."""

import json
import pathlib
import socket
import subprocess
import tempfile
import threading

IMAGE = pathlib.Path(__file__).resolve().parents[3] / "build/arm64/Image"
MACHINE = "virt,gic-version=3,dtb-randomness=off"
BOARD = ["qemu-system-aarch64", "-cpu", "max", "-m", "256", "-display", "none", "-nodefaults"]
SECONDS = 240  # of elapsed time, for what hangs

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
        subprocess.run([*BOARD, "-M", f"{MACHINE},dumpdtb={full}"], check=True, stderr=subprocess.DEVNULL)
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


def serve(folder, name):
    s = socket.socket(socket.AF_UNIX)
    s.bind(str(folder / name))
    s.listen(1)
    return s


def say(stream, line):
    stream.write(line + "\n")
    stream.flush()
    return stream.readline()


def boot(folder, dtb):
    """Returns what the 16550 and the PL011 printed."""
    pl011 = folder / "pl011"
    with serve(folder, f"{dtb.name}.qtest") as qtest, serve(folder, f"{dtb.name}.qmp") as qmp:
        guest = subprocess.Popen(
            [*BOARD, "-M", MACHINE, "-accel", "tcg", "-no-reboot", "-S", "-dtb", str(dtb), "-kernel", str(IMAGE),
             "-append", "output=text -- encode --help", "-chardev", "stdio,id=out", "-device", "pci-serial,chardev=out,addr=1",
             "-serial", f"file:{pl011}", "-qtest", f"unix:{qtest.getsockname()}", "-qtest-log", "/dev/null",
             "-qmp", f"unix:{qmp.getsockname()}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        watch = threading.Timer(SECONDS, guest.kill)
        watch.start()
        try:
            with qtest.accept()[0].makefile("rw") as registers, qmp.accept()[0].makefile("rw") as control:
                control.readline()
                say(registers, f"writel {BAR0:#x} {PORT:#x}")
                say(registers, f"writew {COMMAND:#x} 1")
                for command in ("qmp_capabilities", "cont"):
                    say(control, json.dumps({"execute": command}))
                text = guest.stdout.read()
        finally:
            guest.wait()
            watch.cancel()
    return text.decode(errors="replace"), pl011.read_text(errors="replace")


points = failed = 0


def check(name, good, text):
    global points, failed
    points += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {points} - {name}")
    if not good:
        print("".join(f"# {line}\n" for line in text.splitlines()[-8:]), end="")


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
    print(f"1..{points}")
    raise SystemExit(failed != 0)


if __name__ == "__main__":
    main()
