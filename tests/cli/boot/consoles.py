#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The console is the UART that uart= names, or ACPI, or a device tree of a board, or the only one on PCI.

A 16550 on x86-64 gets the rate of uart= or of the SPCR: QEMU traces the rates."""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

from qmp_guest import ROOT, Points, qemu

RUN = "output=text {} -- encode --help"
HEADER = 36  # of an ACPI table; QEMU makes it
NOWHERE = 0x9500000  # QEMU's virt machine has nothing here


def boot(command, words, *serial):
    """The text that each serial line printed, and the rates that QEMU traced."""
    with tempfile.TemporaryDirectory() as name:
        lines = [pathlib.Path(name) / str(n) for n in range(len(serial))]
        options = [word.format(file=path) for path, option in zip(lines, serial) for word in option]
        done = subprocess.run([*command, "-accel", "tcg", "-display", "none", "-nodefaults", "-no-reboot", *options,
                               "-append", RUN.format(words)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=300)
        rates = re.findall(r"serial_update_parameters baudrate=(\d+)", done.stdout + done.stderr)
        return [path.read_text(errors="replace") if path.exists() else "" for path in lines], rates


SERIAL = ("-serial", "file:{file}")
PCI = ("-chardev", "file,id=out,path={file}", "-device", "pci-serial,chardev=out")


def complete(text):
    """The log from its start, the program's output, and the last line."""
    return text.startswith(("barecpc: ", "cpu: ")) and "usage: encode" in text and "\nbarecpc: exit 0" in text.replace("\r", "")


def x86(words, *serial, tables=()):
    return boot(["qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-m", "256", "-trace", "serial_update_parameters", "-kernel",
                 str(ROOT / "build/x86_64/kernel.elf"), *tables], words, *serial)


ARM64 = ["qemu-system-aarch64", "-M", qemu.ARCHS["arm64"].machine, "-cpu", "max", "-m", "256"]


def arm64(words, *options, serial=SERIAL):
    return boot([*ARM64, "-kernel", str(ROOT / "build/arm64/Image"), *options], words, serial)[0][0]


def tree_without_uart(folder):
    """QEMU's tree without its PL011."""
    tree = pathlib.Path(folder) / "tree"
    subprocess.run([*ARM64, "-machine", f"dumpdtb={tree}"], check=True, capture_output=True)
    subprocess.run(["fdtput", "-r", tree, "/pl011@9000000"], check=True)
    subprocess.run(["fdtput", "-d", tree, "/chosen", "stdout-path"], check=True)
    return tree


def acpi_table(folder, signature, body):
    path = pathlib.Path(folder) / signature
    path.write_bytes(body)
    return ["-acpitable", f"sig={signature},rev=2,data={path}"]


def gas(port):
    """A 16550 in ports.  ACPI Specification 6.4, "Generic Address Structure (GAS)"."""
    return struct.pack("<BBBBQ", 1, 8, 0, 1, port)


def spcr(folder, port, speed):
    body = bytearray(80 - HEADER)
    body[40 - HEADER:52 - HEADER] = gas(port)
    body[58 - HEADER] = speed
    return acpi_table(folder, "SPCR", body)


def dbg2(folder, port):
    """A device of port type 8000H (serial), subtype 0 (16550), with one address, after the table's two fields."""
    device = struct.pack("<BHBHHHHHHHHH", 0, 22 + 12 + 4, 1, 0, 0, 0, 0, 0x8000, 0, 0, 22, 34) + gas(port) + bytes(4)
    return acpi_table(folder, "DBG2", struct.pack("<II", 44, 1) + device)


def check_x86(points, folder):
    (com1, com2), rates = x86("uart=16550-io,0x2f8,19200", SERIAL, SERIAL)
    points.check(complete(com2) and com1 == "", "uart=: COM2 has the whole log, COM1 nothing", com1 + com2)
    points.check(rates[-1:] == ["19200"], "uart=: COM2 has its rate", str(rates))
    (com1,), rates = x86("uart=16550-io,0x2e8", SERIAL)
    points.check(complete(com1) and "cpu: console: nothing answers at 0x2e8: correct the UART's address in the command line" in com1,
                 "uart= without a UART: one line, on COM1", com1)
    points.check(rates[-1:] == ["115200"], "without an SPCR COM1 has 115200 baud", str(rates))
    for words, why in (("uart=vt100,1", "no TYPE of 16550-io, "), ("uart=pl011,x", "not TYPE,ADDRESS[,BAUD]"),
                       ("uart=pl011,0x1002", "a UART cannot be at this address")):
        (com1,), _ = x86(words, SERIAL)
        points.check(f"barecpc: command line: `{words}': {why}" in com1 and "\nbarecpc: exit 125" in com1.replace("\r", ""),
                     f"{words} ends the run with one line", com1)
    (com1,), rates = x86("", SERIAL, tables=spcr(folder, 0x3f8, 4))
    points.check(complete(com1) and rates[-1:] == ["19200"], "the SPCR names COM1: its rate is kept", f"{rates} {com1}")
    (com1, com2), _ = x86("", SERIAL, SERIAL, tables=dbg2(folder, 0x2f8))
    points.check(complete(com2) and "16550-io at 0x2f8, by DBG2" in com2, "without an SPCR the DBG2 names it", com1 + com2)
    for interface, taken in ((1, False), (2, True), (3, True), (6, True), (7, False)):  # 3: as on AWS
        (pci,), _ = x86("", (*PCI[:-1], f"{PCI[-1]},prog_if={interface}"))
        points.check((complete(pci) and ", by PCI" in pci) == taken and (taken or pci == ""),
                     f"without COM1, a UART on PCI of interface {interface:02x} is {'' if taken else 'not '}the console", pci)


def check_arm64(points, folder):
    wrong = f"uart=pl011,{NOWHERE:#x}"
    text = arm64(wrong)
    points.check(complete(text) and f"nothing answers at {NOWHERE:#x}: correct the UART's address in the command line" in text,
                 "arm64: uart= without a UART: one line, on that of the tree", text)
    text = arm64("uart=16550-io,0x3f8")
    points.check("this machine has no I/O ports" in text, "arm64: a UART in ports is refused", text)
    text = arm64("uart=sbsa,0x40200000")
    points.check(complete(text) and "cpu: command line: the console's UART at 0x40200000 is memory" in text,
                 "arm64: uart= in memory is refused", text)
    text = arm64("", "-dtb", tree_without_uart(folder), serial=PCI)
    points.check(complete(text) and ", by PCI" in text, "arm64: a tree without a UART: it is the 16550 on PCI, which no firmware placed",
                 text)


RTC = 0x9010000  # QEMU's virt machine: a PL031, whose register at 14H is 0.  To the LPUART's driver that is a full FIFO.
FULL_SECONDS = 60  # 0.1 s for each character of the log would be minutes


def check_full(points):
    start = time.monotonic()
    text = arm64(f"uart=lpuart,{RTC:#x}")
    took = time.monotonic() - start
    points.check(text == "" and took < FULL_SECONDS, "arm64: a UART that stays full does not hold up the run", f"{took:.0f} s", text)


CPUS = 4
BOARDS = (
    ("xlnx-zcu102", "xilinx/zynqmp-zcu102-rev1.0.dtb", "Cadence", [SERIAL]),
    ("imx8mp-evk", "freescale/imx8mp-evk.dtb", "i.MX", [("-serial", "null"), SERIAL]),  # the tree's is the second
)


def has_machine(program, machine):
    listed = subprocess.run([program, "-M", "help"], capture_output=True, text=True).stdout
    return re.search(rf"^{machine} ", listed, re.M) is not None


def check_boards(points):
    """Boards of QEMU, with the trees of Debian's Linux."""
    programs = [qemu.find_qemu("arm64"), qemu.find_qemu("arm64", qemu.PMU)]
    for machine, tree, name, serial in BOARDS:
        program = next((p for p in programs if has_machine(p, machine)), None)
        if program is None:
            points.skip(f"{machine}: {name}", "this QEMU does not have it")
            continue
        # QEMU makes one CPU of the tree's four without this word, and PSCI refuses to start the others.
        texts, _ = boot([program, "-M", machine, "-smp", str(CPUS), "-m", "2G", "-dtb", qemu.device_tree(tree), "-kernel",
                         str(ROOT / "build/arm64/Image")], "", *serial)
        points.check(complete(texts[-1]), f"{machine}: {name}", texts[-1])
        points.check(f"cpu: {CPUS} online" in texts[-1], f"{machine}: all CPUs of the tree start", texts[-1])


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as folder:
        check_x86(points, folder)
        check_arm64(points, folder)
    check_full(points)
    check_boards(points)
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
