#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""A planted machine's registers describe its caches, and its faults are those of its file (qemu/planted/README.md).

Images of assembly send what they read; what must come follows from the machine's file alone."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import planted_image
import planted_reference
from host.emulator import qemu
from qmp_guest import Points

ROOT = planted_image.ROOT
PLAIN = json.loads((ROOT / "qemu" / "planted" / "machines" / "plain.json").read_text())
points = Points()


def intel(version):
    return subprocess.run([ROOT / "scripts" / "qemu-pmu", "--cpu", f"intel-v{version}"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(arch, image, faults=None, cpu="max", smp="1", leaf=0, **changes):
    """The numbers that an image sends, and its trace."""
    text = (pathlib.Path(__file__).parent / f"faults.{arch}.s").read_text().replace("LEAF", str(leaf))
    common, *images = re.split(r"^#: (.*)\n", text, flags=re.M)
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        folder = pathlib.Path(name)
        planted_image.build(arch, folder, common + images[images.index(image) + 1])
        status, sent = planted_image.run(arch, folder, {**PLAIN, "faults": faults or {}, **changes}, cpu, smp)
        points.check(status == planted_image.ENDED[arch], f"{arch}: the image came to its end", status)
        return sent, (folder / "trace").read_text().splitlines()


def executed(trace, bytes_of_form):
    """The trace's lines of the image's instructions of a form, as words."""
    lines = [line.split() for line in trace]
    forms = {words[1] for words in lines if words[0] == "form" and any(word.startswith(bytes_of_form) for word in words)}
    return [words for words in lines if words[0].isdigit() and words[4] in forms and 1 << 21 <= int(words[1], 16) < 1 << 31]


def caches(announced):
    """A machine's caches, and what leaf 4 says of them: EBX, and ECX in the upper half."""
    drawn = {"l1d": (48, 12), "l1i": (16, 64), "l2": (1024, 16), "llc": (6144, 12)}
    found = {name: {"size": kib << 10, "ways": ways, "line": 64, "latency": 5, "policy": "lru",
                    **({"announced": kib << 11} if announced else {})} for name, (kib, ways) in drawn.items()}
    sets = [(kib << (11 if announced else 10)) // ways // 64 for kib, ways in drawn.values()]
    return found, [s - 1 << 32 | ways - 1 << 22 | 63 for s, (_, ways) in zip(sets, drawn.values())], sets


def drawn_lateness(seed, most, count):
    """How late interrupts are, as the machine draws it"""
    late = []
    for _ in range(count):
        seed, number = planted_reference.xorshift(seed)
        late.append((number >> 32) % (most + 1))
    return late


def check_x86():
    for vendor, leaf, cpu in (("Intel", 4, intel(4)), ("AMD", 0x8000001d, "EPYC-v1")):
        for announced in (False, True):
            machine, wanted, _ = caches(announced)
            sent, _ = run("x86_64", "caches", cpu=cpu, leaf=leaf, **machine)
            points.check(sent == wanted, f"{vendor}: CPUID describes the {'caches of the lie' if announced else 'planted caches'}", [sent, wanted])
    late = drawn_lateness(5, 200, 3)
    for what, faults, wanted in (("an exact", {}, [0] * 3), ("a late", {"late": 200}, [0] * 3),
                                 ("a late, with the freeze", {"late": 200, "late_seed": 5, "late_freeze": True}, late)):
        sent, _ = run("x86_64", "pmu", faults, intel(4))
        points.check(sent[2:-1] == wanted, f"x86_64: {what} interrupt: the counters stand", [sent, wanted])
    points.check(sent[-1] == 5, "x86_64: MSR 1A4H keeps which prefetchers are off", sent)
    points.check(sent[0] & 0x01840000 == 0, "x86_64: no threshold, nor edge, of planted events is announced", hex(sent[0]))
    points.check(sent[1] == 0, "x86_64: and they count nothing with one", sent[1])
    _, trace = run("x86_64", "branches", cpu=intel(4))
    at = executed(trace, "bytes=0f84")
    points.check(len(at) == 16000 and not any("taken" in line for line in at), "x86_64: no interrupt makes a branch taken",
                 [len(at), sum("taken" in line for line in at)])
    at = executed(run("x86_64", "aliases", cpu=intel(4))[1], "bytes=0f84")
    points.check([int(line[1], 16) >> 30 for line in at] == [0, 1] and all("taken" in line for line in at),
                 "x86_64: the same code at two addresses has two branches", at)
    for shared in (False, True):
        sent, _ = run("x86_64", "shared", {"shared_msrs": shared}, "Skylake-Client,check=off,pmu=on,tsc-skew=1000000000000", "2,cores=1,threads=2")
        points.check(sent[0] == (3 if shared else 0), f"x86_64: OFFCORE_RSP is {'the core' if shared else 'each thread'}'s", sent)
        points.check(10 ** 12 < sent[1] < 10 ** 12 + 10 ** 9, "x86_64: the second CPU's TSC is ahead", sent[1])


def pauses(trace):
    """The time before and after the instruction that each pause follows, at 1000 MHz."""
    steps = [line.split() for line in trace if line[0].isdigit() or line.startswith("pause")]
    return [(int(a[-1]), int(b[-1])) for a, b, c in zip(steps, steps[1:], steps[2:]) if c[0] == "pause"]


def check_time():
    """Cycles, reference cycles, TSC and SMIs of a loop, next to the same on a machine without the disturbance."""
    plain, _ = run("x86_64", "time", cpu=intel(4))
    smi, trace = run("x86_64", "time", {"smi": {"first_us": 20, "every_us": 50, "cycles": 7000}}, intel(4))
    at = pauses(trace)
    points.check(len(at) > 1 and all(a < due <= b for (a, b), due in zip(at, [20000, *(b + 50000 for _, b in at)])),
                 "x86_64: an SMI follows the instruction that reaches its time", at)
    lost = smi[0] - plain[0]  # Each SMI may divide a cycle in two.
    points.check(smi[3] > 1 and smi[3] * 7000 <= lost <= smi[3] * 7001 and smi[2] - plain[2] == lost,
                 "x86_64: SMIs take cycles and time, and are counted", [plain, smi])
    guest, _ = run("x86_64", "time", {"hypervisor": {"first_us": 20, "every_us": 50, "ns": 7000}}, intel(4))
    stolen = guest[2] - plain[2]
    points.check(guest[:2] == plain[:2] and stolen > 7000 and stolen % 7000 == 0, "x86_64: a hypervisor takes time alone", [plain, guest])
    slow, _ = run("x86_64", "time", {"frequencies": [{"at_us": 0, "mhz": 500}]}, intel(4))
    # Each of two readings of the TSC drops a part of a tick.
    points.check(slow[0] == plain[0] and abs(slow[2] - 2 * plain[2]) <= 2, "x86_64: half the frequency, twice the time", [plain, slow])


def check_arm64():
    late = drawn_lateness(5, 200, 3)
    for announced, faults, wanted in ((False, {"late": 200}, [0] * 3), (True, {"late": 200, "late_seed": 5, "late_freeze": True}, late)):
        machine, _, sets = caches(announced)
        sent, trace = run("arm64", "all", faults, "max,pmu-v3p7=on", **machine)
        points.check(sent[0] & 0x70001ff == 3 << 24 | 0x123, "arm64: CLIDR has three levels", hex(sent[0]))
        found = [((r >> 13 & 0x7fff) + 1, (r >> 3 & 0x3ff) + 1, r & 7) for r in sent[1:5]]
        points.check(found == [(s, machine[name]["ways"], 2) for s, name in zip(sets, ("l1d", "l1i", "l2", "llc"))],
                     f"arm64: CCSIDR describes the {'caches of the lie' if announced else 'planted caches'}", [found, sets])
        points.check(sent[5:] == wanted, "arm64: PMCR.FZO freezes the counters", [sent[5:], wanted])
        points.check("bytes=00000000" in " ".join(trace) and not executed(trace, "bytes=00000000"), "arm64: an instruction that faults is decoded, and not executed")


def check_clock():
    """The machine's time replaces one ns of each instruction, so icount must add one."""
    program, plugin = (qemu.qemu_pmu(*words) for words in (("--path", "x86_64"), ("--planted",)))
    done = subprocess.run([program, "-S", "-display", "none", "-icount", "shift=1", "-plugin", f"{plugin},seed=1"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    points.check(done.returncode != 0 and "needs -icount shift=0" in done.stderr, "another clock is refused", done.stderr)


def check_skew():
    """The kernel measures how far a TSC is ahead, within an error that it states, and moves it."""
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", "x86_64", "--smp", "2", "--qemu", "pmu", "--cpu",
                           f"{intel(4)},tsc-skew=1000000,+tsc-adjust", "--", "spin"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False).stdout
    ahead = re.search(r"the TSC of CPU 1 is (\d+) ticks ahead, within (\d+): IA32_TSC_ADJUST moves it", done)
    points.check(ahead and abs(int(ahead[1]) - 1000000) <= int(ahead[2]) and "the TSCs are equal within" in done,
                 "the kernel finds the planted skew of a TSC, and mends it", done)


def check_shared():
    """vpmu names CPUs that share an extra MSR.  Not on a planted machine: the rest of it would take minutes."""
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", "x86_64", "--qemu", "pmu", "--smp", "2,cores=1,threads=2", "--cpu",
                           "Skylake-Client,check=off,pmu=on,pmu-version=4,pmu-lie-shared=on", "--append", "priv=system", "--", "vpmu", "-r", "1"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    points.check("\n# CPU 0 shares OFFCORE_RSP_0\n" in done, "vpmu names a shared OFFCORE_RSP_0", done)


# Disturbances of a benchmark of 15 us a run: the fault, and the reason that a row states, where a program can see it
TIMES = {"first_us": 1000, "every_us": 130}
DISTURBANCES = {
    "no": ({}, {}), "a late interrupt": ({"late": 200, "late_seed": 3}, {}),
    "SMIs": ({"smi": {**TIMES, "cycles": 7000}}, {"x86_64": "1 SMI, most runs 0"}),
    "a hypervisor": ({"hypervisor": {**TIMES, "ns": 7000}}, {arch: r"[0-9.]+ ns a tick, most runs 1\.[0-9]+" for arch in ("arm64", "x86_64")}),
    "frequencies": ({"frequencies": [{"at_us": 1000 + 900 * n, "mhz": 1000 - 500 * (n % 2)} for n in range(8)]},
                    {arch: r"[0-9.]+ ns a tick, most runs [0-9.]+" for arch in ("arm64", "x86_64")})}


def check_two_cpus(arch):
    """A block is of the CPU that executes it: the proof trusts the counters, and time goes on."""
    done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--smp", "2", "--planted",
                           ROOT / "qemu/planted/machines/plain.json", "--", "spin", "-r", "1"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    ticks = re.search(r"^boot: (\d+) ticks", done, re.M)
    points.check("count what all CPUs retire" not in done and "not compared" not in done and ticks and int(ticks[1]) < 10 ** 8,
                 f"{arch}: two planted CPUs", *done.splitlines()[-12:])


def check_measure(arch):
    """A benchmark's cycles are those without the disturbance.  A program sees all of these but late interrupts and arm64's firmware.
    The branch at each end of a run may be predicted wrong or not: 22 cycles each.  A pause has 7000.  It may fall between two runs, and do
    so always if the runs keep in step with it, but not in runs of three lengths.  Together they last longer than a frequency."""
    counts = {}
    with tempfile.TemporaryDirectory(prefix="barecpc.") as folder:
        for what, (faults, reasons) in DISTURBANCES.items():
            (machine := pathlib.Path(folder) / "m.json").write_text(json.dumps({**PLAIN, "faults": faults}))
            done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, "--planted", machine, "--", "chase", "-r", "40",
                                   "--undisturbed", "-e", "PAPI_tot_cyc:uk", "65536", "57344", "49152"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
            counts[what] = [int(n) for n in re.findall(r"^chase/\d+ +PAPI_tot_cyc:uk +(\d+)", done, re.M)]
            said = re.findall(r"^# disturbed: .* run \d+ of 40: (.*)", done, re.M)
            equal = [abs(a - b) <= 44 and b > 5000 for a, b in zip(counts[what], counts["no"])]
            points.check(equal == [True] * 3, f"{arch}: the cycles without {what}", counts, done)
            wanted = reasons.get(arch)
            points.check(any(re.search(wanted, text) for text in said) if wanted else not said, f"{arch}: {what}: {wanted or 'nothing is stated'}",
                         *said, done)


def check_vpmu(arch, *cpu):
    """The boot proof and vpmu name what a program can see, of all faults at once."""
    faults = {"smi": {**TIMES, "cycles": 7000}, "hypervisor": {**TIMES, "every_us": 90, "ns": 50000}, "late": 200, "late_freeze": True,
              "frequencies": [{"at_us": 2000, "mhz": 500}]}
    with tempfile.TemporaryDirectory(prefix="barecpc.") as folder:
        (machine := pathlib.Path(folder) / "m.json").write_text(json.dumps({**PLAIN, "faults": faults}))
        done = subprocess.run([ROOT / "scripts" / "barecpc", "run", "--arch", arch, *cpu, "--planted", machine, "--", "vpmu", "-r", "1"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    for line in (" instructions late; the PMU's freeze fails: 200 more counted",
                 "# an interrupt or firmware took cycles of a loop", "# time without cycles: an interrupt, firmware or another guest ran, or the",
                 *(["# the clock's rate changed: 10^6 cycles take 2"] if arch == "arm64" else [])):  # on x86-64 before the first loop
        points.check(line in done, f"{arch}: {line}", *done.splitlines()[-12:])


check_vpmu("arm64", "--cpu", "max,pmu-v3p7=on")
check_vpmu("x86_64")
check_measure("arm64")
check_measure("x86_64")
check_two_cpus("arm64")
check_two_cpus("x86_64")
check_clock()
check_skew()
check_shared()
check_x86()
check_time()
check_arm64()
sys.exit(points.end())
