#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A watchdog that runs before the kernel starts does not reset the machine: the kernel stops it, and says so.

The test plays the loader.  While the CPUs stand still, it writes the registers by QEMU's test protocol.  Time is a count of
instructions, and the program sleeps longer than the watchdog waits."""

import os
import pathlib
import subprocess
import sys
import tempfile

from qmp_guest import ROOT, Points, connect, qemu
from screen import ask

SECONDS = 30  # of the guest; each watchdog resets at 24 s
PROGRAM = f"console=framed -- cpustat -c PAPI_tot_ins 1 {SECONDS}"

# Intel ICH9 Datasheet (316972): PMBASE and ACPI_CNTL, RCBA, GCS without NO_REBOOT; TCO_TMR of 20 ticks of 0.6 s, TCO_RLD.
TCO = ["outl 0xcf8 0x8000f840", "outl 0xcfc 0x601", "outl 0xcf8 0x8000f844", "outl 0xcfc 0x80",
       "outl 0xcf8 0x8000f8f0", "outl 0xcfc 0xfed1c001", "writel 0xfed1f410 0", "outw 0x672 20", "outw 0x660 1"]
# Arm BSA (DEN 0094), "Generic Watchdog": WOR of 12 s at 62.5 MHz, WCS.EN.
SBSA = ["writel 0x50011008 750000000", "writel 0x50011000 1"]

# QEMU's tree for sbsa-ref has CPUs and memory alone, because its firmware knows the rest.
SBSA_TREE = """/dts-v1/;
/ {
	#address-cells = <2>; #size-cells = <2>; interrupt-parent = <1>;
	cpus {
		#address-cells = <1>; #size-cells = <0>;
		cpu@0 { device_type = "cpu"; compatible = "arm,armv8"; reg = <0>; };
	};
	memory@10000000000 { device_type = "memory"; reg = <0x100 0 0 0x10000000>; };
	intc@40060000 {
		compatible = "arm,gic-v3"; #interrupt-cells = <3>; interrupt-controller; phandle = <1>;
		reg = <0 0x40060000 0 0x10000>, <0 0x40080000 0 0x4000000>;
	};
	timer { compatible = "arm,armv8-timer"; interrupts = <1 13 4>, <1 14 4>, <1 11 4>, <1 10 4>; };
	pmu { compatible = "arm,armv8-pmuv3"; interrupts = <1 7 4>; };
	serial@60000000 { compatible = "arm,pl011"; reg = <0 0x60000000 0 0x1000>; };
	watchdog@50011000 { compatible = "arm,sbsa-gwdt"; reg = <0 0x50011000 0 0x1000>, <0 0x50010000 0 0x1000>; };
	chosen { stdout-path = "/serial@60000000"; };
};
"""


def play_loader(path, guest, commands):
    """Send commands of QEMU's test protocol.  Each is answered by a line."""
    with connect(path, guest) as s:
        stream = s.makefile("rw")
        for command in commands:
            stream.write(command + "\n")
            stream.flush()
            answer = stream.readline()
            if not answer.startswith("OK"):
                raise RuntimeError(f"{command}: {answer}")


def run(words, commands, folder):
    """The lines of the console, to the closing line or the end of QEMU."""
    test, control = (os.path.join(folder, name) for name in ("test", "control"))
    guest = subprocess.Popen([*words, "-accel", "tcg", "-icount", "shift=0,sleep=off", "-m", "256", "-display", "none", "-nodefaults",
                              "-serial", "stdio", "-no-reboot", "-append", PROGRAM, "-S", "-qtest-log", "none",
                              "-qtest", f"unix:{test},server=on,wait=off", "-qmp", f"unix:{control},server=on,wait=off"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")
    lines = []
    try:
        with connect(control, guest) as s:
            stream = s.makefile("rw")
            stream.readline()
            ask(stream, "qmp_capabilities")
            play_loader(test, guest, commands)
            ask(stream, "cont")
            for line in guest.stdout:
                lines.append(line.rstrip())
                if lines[-1].startswith("barecpc: exit"):
                    break
    finally:
        guest.kill()
        guest.wait()
    return lines


def check(points, name, kind, lines):
    points.check("barecpc: exit 0" in lines, f"{name}: the watchdog does not end the run", *lines[-5:])
    points.check(f"watchdog: {kind}: firmware left it running: stopped" in lines, f"{name}: the log has it", *lines)


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as folder:
        words = [qemu.find_qemu("x86_64", qemu.PMU), "-M", "q35", "-cpu", qemu.CPU_MAX_PMU, "-global", "ICH9-LPC.noreboot=false",
                 "-kernel", ROOT / "build/x86_64/kernel.elf"]
        check(points, "q35", "TCO", run(words, TCO, folder))
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        subprocess.run(["dtc", "-q", "-O", "dtb", "-o", tree], input=SBSA_TREE, text=True, check=True)
        words = ["qemu-system-aarch64", "-M", "sbsa-ref", "-cpu", "neoverse-n1", "-smp", "1", "-dtb", tree, "-kernel", ROOT / "build/arm64/Image"]
        check(points, "sbsa-ref", "SBSA", run(words, SBSA, folder))
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
