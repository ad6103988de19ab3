#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""NMIs and machine checks come at any time: a stray NMI does not change a run, a machine check ends it in one line.

Both come from QEMU's monitor, at moments of the host's time.  They interrupt the kernel's entry and exit, its locks, its
console and its idle loop.  With BARECPC_CAMPAIGN=yes there are more of them."""

import os
import pathlib
import random
import re
import tempfile
import time

from qmp_guest import Guest, Points, archive

CAMPAIGN = os.environ.get("BARECPC_CAMPAIGN") == "yes"
# Programs that enter and leave the kernel in every way, some with exact counts at user privilege.  Two kinds are left out.
# In programs that count the kernel an NMI retires instructions.  A counter read in user code repeats after an NMI.
PROGRAMS = ["signal", "signal_frame", "thread", "fork", "futex", "itimer", "cpc_overflow", "cpc_inherit"]
ROUNDS = 10 if CAMPAIGN else 1
MOMENTS = 100 if CAMPAIGN else 8
PAUSE = 0.002  # seconds between two NMIs: with less they merge
MOST = 3000 * ROUNDS  # NMIs: a bound, so that the programs end on any host
# Uncorrected, with an address and further data, state lost.  Intel SDM vol. 3B, "IA32_MCi_STATUS MSRs".
STATUS, MCG, ADDRESS, MISC = "0xbe00000000000134", "0x5", "0x1234000", "0x8c"
CORRECTED = "0x9c00000000000134"  # the same, neither uncorrected nor with state lost
HELD = rf"bank 3: status {STATUS} \(uncorrected, state lost\), address {ADDRESS}, misc {MISC}"


def matching(guest, pattern):
    return [line for line in guest.log if re.search(pattern, line)]


def storm(points, folder, cpus):
    """Programs run during hundreds of NMIs of every CPU, and their counts are the same as always.

    The memory corrects errors at the same time.  QEMU writes them to a bank of each CPU in turn, which raises no machine check."""
    suite = [*PROGRAMS * ROUNDS, "triad 4096"]
    guest = Guest("x86_64", payload=archive("x86_64", PROGRAMS, suite, folder), smp=str(cpus), append="test_hooks=yes",
                  limit=600 * ROUNDS)
    guest.wait_line("online")
    sent = refused = 0
    while guest.running():
        if sent < MOST:
            guest.qmp("inject-nmi")
            answer = guest.monitor(f"mce {sent % cpus} 3 {CORRECTED} 0 {ADDRESS} {MISC}")
            refused += bool(answer and answer.get("return") != "")
            sent += 1
        time.sleep(PAUSE)
    guest.wait()
    struck = matching(guest, r"^cpu: [0-9]+ stray NMI\(s\) in this run$")
    n = int(struck[0].split()[1]) if struck else 0
    points.check(guest.exit == 0, f"CPUs {cpus}: programs pass during NMIs", f"exit {guest.exit}", *guest.log[-8:])
    points.check(0 < n <= sent * cpus, f"CPUs {cpus}: the log has the number of NMIs", f"{sent} sent, {n} counted")
    print(f"# {sent} NMIs sent to each of {cpus} CPUs, {n} counted: others merged with a pending one")
    firsts = [line.split()[4] for line in matching(guest, r"^cpu: stray NMI: CPU [0-9]+ at pc 0x")]
    points.check(sorted(firsts) == [str(cpu) for cpu in range(cpus)], f"CPUs {cpus}: the first NMI of each has its own line", *firsts)
    points.check(not refused and not matching(guest, r"machine check(?!.*\(corrected)"), f"CPUs {cpus}: a corrected error raises no machine check", *guest.log[-8:])
    counts = [record["machine"]["stray_nmis"] for record in guest.records]
    points.check(counts and counts == sorted(counts) and 0 < counts[-1] <= n, f"CPUs {cpus}: records have the number of NMIs",
                 f"{counts}, {n} in all")


def panics(points):
    guest = Guest("x86_64", program=["sched"], append="nmi=panic")
    guest.wait_line("online")
    guest.qmp("inject-nmi")
    guest.wait()
    points.check(guest.exit == 125 and len(matching(guest, r"^panic: NMI at pc 0x")) == 1,
                 "with nmi=panic the first NMI ends the run", *guest.log[-8:])


def machine_checks(points):
    """The report starts on its own line at any moment.  The runner reports a console frame that it cuts."""
    chance, bad = random.Random(12), []
    for _ in range(MOMENTS):
        guest = Guest("x86_64", program=["signal"])
        guest.wait_line("online")
        time.sleep(chance.uniform(0, 0.4))
        guest.monitor(f"mce 0 3 {STATUS} {MCG} {ADDRESS} {MISC}")
        guest.wait()
        if guest.exit == 0:
            continue  # the run had ended before
        if guest.exit != 125 or len(matching(guest, "^cpu: machine check: CPU 0 " + HELD + "$")) != 1 or \
                len(matching(guest, r"^panic: machine check: CPU 0 at pc 0x")) != 1:
            bad += guest.log[-8:] + [f"exit {guest.exit}"]
    points.check(not bad, f"a machine check at any of {MOMENTS} moments prints its bank and ends the run", *bad)


def broadcast(points):
    guest = Guest("x86_64", program=["sched"], smp="4")
    guest.wait_line("online")
    guest.monitor(f"mce -b 1 3 {STATUS} {MCG} {ADDRESS} {MISC}")
    guest.wait()
    lines = matching(guest, r"^cpu: machine check: CPU [0-3] bank [0-9]+: status 0x")
    points.check(sorted(line.split()[4] for line in lines) == list("0123") and matching(guest, "CPU 1 " + HELD),
                 "a machine check on all CPUs prints the banks of each", *guest.log[-12:])
    points.check(guest.exit == 125 and len(matching(guest, r"^panic: ")) == 1, "it ends the run once", *guest.log[-12:])


def main():
    points = Points()
    with tempfile.TemporaryDirectory() as folder:
        storm(points, pathlib.Path(folder), 1)
        storm(points, pathlib.Path(folder), 4)
    panics(points)
    machine_checks(points)
    broadcast(points)
    return points.end()


if __name__ == "__main__":
    raise SystemExit(main())
