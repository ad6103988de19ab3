#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""CPUs with APIC ids from 255 on start, count exactly and take interrupts of other CPUs, in x2APIC mode.

A CPU that has not started is in xAPIC mode.  It takes what is sent to the id 255 as sent to all, and compares 8 bits of other
ids.  So it may be woken with another CPU, and must wait for its own start."""

import pathlib
import re
import tempfile

from qmp_guest import ROOT, Guest, Points

SOCKETS = 1024  # one CPU each, so that the id of a CPU is its socket's number
CASES = (
    ("an id that 8 bits cannot hold", [256]),
    ("the id that xAPIC mode takes as a broadcast, before others", [1, 254, 255, 256, 257, 511, SOCKETS - 1]),
)


def boot(ids, program, append=""):
    """A machine with the CPU 0 and those of these ids."""
    options = [word for number in ids
               for word in ("-device", f"max-x86_64-cpu,socket-id={number},core-id=0,thread-id=0")]
    return Guest("x86_64", program, append, smp=f"1,maxcpus={SOCKETS},sockets={SOCKETS}", options=options)


def all_count(points):
    for name, ids in CASES:
        wanted = 1 + len(ids)
        guest = boot(ids, ["cpc_each_cpu"], f"env.CPUS_WANTED={wanted}").wait()
        log, out = "\n".join(guest.log), guest.out.decode()
        points.check(f"{wanted} CPU(s), x2APIC" in log, f"{name}: x2APIC mode", log)
        points.check(f"cpu: {wanted} online" in log, f"{name}: {wanted} CPUs are online", log)
        points.check(guest.exit == 0 and "not ok" not in out and out.count("\nok ") == 4, f"{name}: each counts exactly", out)


def others_wait(points):
    """With cpus=3 the CPUs 256, 257 and 511 never start.  The start of CPU 1 wakes CPU 257, that of CPU 255 all."""
    guest = boot([1, 255, 256, 257, 511], ["spin", "-r", "1000000"], "cpus=3")
    guest.wait_line("pcbe: overflow")
    answer = guest.monitor("info registers -a")
    guest.monitor("quit")
    guest.wait()
    cpus = re.split(r"^CPU#\d+$", answer["return"].replace("\r", ""), flags=re.M)[1:]
    points.check(len(cpus) == 6 and "RIP=" in cpus[1] and "RIP=" in cpus[2], "the CPUs with the ids 1 and 255 run", answer["return"])
    for at, number in ((3, 256), (4, 257), (5, 511)):
        points.check("CS =0800" in cpus[at] and "HLT=1" in cpus[at], f"the CPU {number} was woken, and waits in real mode",
                     *cpus[at].splitlines()[:12])
    quiet = boot([1, 255, 256, 257, 511], ["cpc_each_cpu"], "cpus=3 env.CPUS_WANTED=3").wait()
    points.check(quiet.exit == 0 and "not ok" not in quiet.out.decode(), "and a run ends as usual", *quiet.log)


# x86_trampoline: if the id that may start is not -1, compare this CPU's with it, and wait if they differ.  Instead, compare this
# CPU's with 1, and wait if they are equal: cmp $1, %dx; je.
ANY_STARTS = bytes.fromhex("66 83 fe ff 74 10 66 b8 0b 00 00 00 66 31 c9 0f a2 66 39 f2 75")
ONE_WAITS = bytes.fromhex("66 83 fe ff 90 90 66 b8 0b 00 00 00 66 31 c9 0f a2 83 fa 01 74")


def one_is_late(points):
    """CPU 1 of a changed copy of the kernel does not arrive: the others start, and the run says what happened."""
    image = (ROOT / "build/x86_64/kernel.elf").read_bytes()
    points.check(image.count(ANY_STARTS) == 1, "the trampoline compares the id in one place")
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder) / "kernel.elf"
        changed.write_bytes(image.replace(ANY_STARTS, ONE_WAITS))
        guest = Guest("x86_64", ["spin", "--help"], smp="4", image=changed, payload="archive.cpio").wait()
    log = "\n".join(guest.log)
    points.check("cpu: CPU 1 (0x1) does not start: it does not arrive in time: the run goes on without it" in log and
                 log.count("does not start") == 1 and "cpu: 3 online" in log and guest.exit == 0, "a late CPU does not keep others off", log)


def main():
    points = Points()
    one_is_late(points)
    all_count(points)
    others_wait(points)
    return points.end()


if __name__ == "__main__":
    raise SystemExit(main())
