#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""stat, record, annotate and nb on a planted machine: ratios by closed forms, the hot instruction, and interrupts that are late.

The machine is drawn from a seed, by default the commit's; BARECPC_SEED=N draws another one."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from host.emulator.qemu import CPU_MAX_PMU
from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]
LATE = ",pmu-lie-late=200"
FREEZES = {"x86_64": CPU_MAX_PMU, "arm64": "max,pmu-v3p7=on"}
GCC = {"x86_64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}
L1D = {"x86_64": ("r0151:u", "r0143:u"), "arm64": ("l1d_cache_refill:u", "l1d_cache:u")}
DIVISION = {"x86_64": "div", "arm64": "udiv"}
STEPS = {"x86_64": "IMUL RAX, RAX; MOV RCX, RAX; IMUL RAX, RCX; ADD RCX, RAX", "arm64": "mul x0, x0, x0; mov x2, x0; mul x0, x0, x2; add x2, x2, x0"}

points = Points()


def barecpc(*words):
    done = subprocess.run([ROOT / "scripts/barecpc", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, cwd=ROOT, check=False)
    return done.returncode, done.stdout


def draw_machine(seed):
    r = random.Random(seed)
    m = json.loads((ROOT / "qemu/planted/machines/plain.json").read_text())
    m["classes"]["mul"]["latency"] = r.randint(2, 9)
    m["classes"]["div"].update(latency=r.randint(20, 60), busy=r.randint(15, 20))
    m["l1d"].update(size=(ways := r.choice([4, 8])) * 4096, ways=ways)
    return m


def build(folder, arch, *defines):
    program = folder / "loops"
    subprocess.run([GCC[arch], "-nostdlib", "-static", *(f"-D{d}" for d in defines), ROOT / "tests/cli/planted/tools.S",
                    "-o", program], check=True)
    return program


def check_ratio(arch, what, planted, found):
    print(f"# {arch}: {what}: planted {planted:.4f}, found {found}")
    points.check(found is not None and abs(found - planted) <= 0.01, f"{arch}: {what}")


def check_stat(arch, m, machine, folder):
    """The chain takes 16 multiplications an iteration; its other two instructions cost nothing."""
    _, text = barecpc("stat", "--planted", machine, "-e", "PAPI_tot_cyc:u,PAPI_tot_ins:u", build(folder, arch, "LOOP=CHAIN"))
    found = re.search(r"# +([0-9.]+) +insn per cycle", text)
    check_ratio(arch, "instructions per cycle", 18 / (16 * m["classes"]["mul"]["latency"]), float(found[1]) if found else None)
    for size, planted in ((2 * m["l1d"]["size"], 1), (m["l1d"]["size"] // 2, 1 / 20)):
        _, text = barecpc("stat", "--planted", machine, "-e", ",".join(L1D[arch]), build(folder, arch, "LOOP=WALK", f"BYTES={size}"))
        counts = [re.search(rf"([0-9,]+) +{event}", text) for event in L1D[arch]]
        misses, accesses = (int(c[1].replace(",", "")) if c else 0 for c in counts)
        check_ratio(arch, f"misses for each access, {size // 1024} KiB", planted, misses / accesses if accesses else None)


def check_record(arch, machine, folder):
    """The instruction after the hot one has the samples, or annotate says how late they are."""
    program, data = build(folder, arch, "LOOP=HOT"), folder / "data"
    for model in ((), ("--model", FREEZES[arch] + LATE)):
        _, text = barecpc("record", "--planted", machine, *model, "-e", "PAPI_tot_cyc:u", "-c", "997", "-o", data, program)
        status, listing = barecpc("annotate", "-i", data, "loop")
        lines = re.findall(r"^ *([0-9.]*) \| +[0-9a-f]+:\t(\S+)", listing, re.M)
        samples = [float(share or 0) for share, _ in lines]
        late = re.search(r"# the overflow interrupt .*, at most (\d+) instructions late", listing)
        if status != 0 or not lines:
            points.check(False, f"{arch}: record and annotate", text[-300:], listing)
            continue
        named = lines[samples.index(max(samples)) - 1][1] == DIVISION[arch]
        print(f"# {arch}: {max(samples)} % after {lines[samples.index(max(samples)) - 1][1]}; {late[0] if late else 'not late'}")
        if model:
            points.check(late is not None and int(late[1]) >= 200, f"{arch}: annotate says how late a late interrupt is", listing)
        else:
            points.check(named and max(samples) > 50, f"{arch}: annotate shows the planted division before the most samples", listing)


def check_cycles(arch, machine):
    """A late interrupt changes nothing where the PMU freezes.  It is refused where the freeze is late, too."""
    words = ("nb", "--arch", arch, "--planted", machine, "-cycle_by_cycle", "-n_measurements", "1", "-asm", STEPS[arch])
    runs = [barecpc(*words, "--model", FREEZES[arch] + late) for late in ("", LATE, f"{LATE},pmu-lie-late-freeze=on")]
    counts = [re.findall(r"^[A-Z].*: 0 .*", text, re.M) for _, text in runs]
    steps = [[int(n) for n in line.partition(": ")[2].split()] for line in counts[0]]
    points.check(len(steps) >= 2 and all(sorted(s) == s for s in steps), f"{arch}: nb steps by cycles, and no count falls", *counts[0])
    points.check(counts[0] == counts[1], f"{arch}: the same counts after each cycle with a late interrupt", *counts[0], *counts[1])
    status, text = runs[2]
    points.check(status == 77 and "the PMU's freeze fails: 200 more counted" in text, f"{arch}: the boot proof finds a late freeze", text[-300:])
    points.check("the overflow interrupt comes late, and this PMU does not freeze" in text, f"{arch}: nb refuses it", text[-300:])


def main():
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    for arch in ("arm64", "x86_64"):
        seed = f"{os.environ.get('BARECPC_SEED') or commit} tools {arch}"
        print(f"# seed {seed}")
        with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
            folder, m = pathlib.Path(name), draw_machine(seed)
            (folder / "m.json").write_text(json.dumps(m))
            check_stat(arch, m, folder / "m.json", folder)
            check_record(arch, folder / "m.json", folder)
            check_cycles(arch, folder / "m.json")
    return points.end()


sys.exit(main())
