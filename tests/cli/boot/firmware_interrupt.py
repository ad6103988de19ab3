#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""An interrupt that firmware left enabled, and a device that asserts it, do not change a run by one instruction.

The emulator has no such firmware.  QEMU's test protocol sets the registers before the first instruction."""

import pathlib
import tempfile

import qtest_guest
import tap

# QEMU's virt machine: the distributor, and the UART with SPI 33, bit 1 of the second register of each kind.
GICD, UART = 0x08000000, 0x09000000
GICD_CTLR, GICD_IGROUPR1, GICD_ISENABLER1, GICD_ITARGETSR8 = GICD, GICD + 0x84, GICD + 0x104, GICD + 0x820
UARTIMSC, UARTIMSC_TXIM = UART + 0x38, 1 << 5
LEFT = {
    "2": [(GICD_ITARGETSR8, 1 << 8)],
    "3": [(GICD_IGROUPR1, 1 << 1), (GICD_CTLR, 0x12)],  # group 1, enabled; affinity routing
}


def boot(gic, writes, folder):
    """Returns the guest's output and status."""
    options = ["-M", f"virt,gic-version={gic}", "-cpu", "max,cntfrq=1000000000", "-icount", "shift=0,sleep=off",
               "-rtc", "base=2024-01-01,clock=vm", "-seed", "1", "-serial", "stdio", "-append", "-- spin"]
    return qtest_guest.run(folder, f"{gic}-{len(writes)}", options, [f"writel {address:#x} {value:#x}" for address, value in writes])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for gic, group in LEFT.items():
            left = [*group, (GICD_ISENABLER1, 1 << 1), (UARTIMSC, UARTIMSC_TXIM)]
            clean, status = boot(gic, [], pathlib.Path(folder))
            tap.check(f"GICv{gic}: it runs", [] if status == 0 and b"barecpc: exit 0" in clean else [status])
            tap.check(f"GICv{gic}: with the UART's interrupt left enabled and asserted, the same to the byte",
                      [] if boot(gic, left, pathlib.Path(folder)) == (clean, status) else ["they differ"])
    tap.end()


if __name__ == "__main__":
    main()
