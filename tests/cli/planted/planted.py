#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The tools find what is planted in an emulated machine (qemu/planted/README.md).

The machine is drawn from a seed, by default the commit's, and written to a file that only the emulator reads.  The tools'
output is compared with it: latencies, the width, sizes of caches.  BARECPC_SEED=N draws another one."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = str(ROOT / "scripts" / "barecpc")
KIB = 1024
SIZES = [2 ** n * KIB for n in range(2, 12)]  # 4 KiB to 2 MiB
# A chain and eight that are independent of each other; registers that nb leaves to the code
CODE = {
    "arm64": {"alu": "add x2, x2, x2", "mul": "mul x2, x2, x2", "div": "sdiv x2, x2, x3", "fp": "fadd d0, d0, d0",
              "form": "madd x2, x2, x3, x4", "minimum": "fmin d0, d0, d1", "absolute": "fabs d0, d0",
              "eight": "; ".join(f"add x{n}, x2, x3" for n in range(4, 12))},
    "x86_64": {"alu": "add rax, rax", "mul": "imul rax, rax", "fp": "addsd xmm0, xmm0",
               "eight": "; ".join(f"lea r{n}, [rax+rbx]" for n in range(8, 14)) + "; lea rcx, [rax+rbx]; lea rdx, [rax+rbx]",
               # Not POP, nor a string instruction that counts in rcx
               # INC leaves the carry, so the chain is ADC's.
               "form": "mov r8, r9; adc r8, r9; inc rcx", "minimum": "minsd xmm0, xmm0", "absolute": "andpd xmm0, xmm1",
               "popcnt": "; ".join(f"popcnt r{n}, rax" for n in (8, 9, 10, 11)), "movss": "lea rcx, [rcx+1]; movss xmm8, xmm9"}}
L1D_MISS = {"arm64": "l1d_cache_refill:u", "x86_64": "r0151:u"}

points = Points()


def seed_of(arch):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    return f"{os.environ.get('BARECPC_SEED') or commit} {arch}"


def draw_machine(seed):
    """A machine whose levels differ, whose TLB holds all that is measured, and whose L1D has 4 KiB in each way."""
    r = random.Random(seed)
    ports = r.randint(4, 8)

    def work(least, most, busy=1):
        return {"latency": r.randint(least, most), "busy": busy, "ports": sorted(r.sample(range(ports), r.randint(1, ports)))}

    def cache(size, ways, latency):
        return {"size": size, "ways": ways, "line": 64, "latency": latency, "policy": "lru"}
    l1_ways, l1, l2 = r.choice([8, 16]), r.randint(3, 6), r.randint(10, 20)
    return {
        "forms": {"adc r64, r64": work(7, 9), "madd x, x, x, x": work(7, 9)},
        "name": f"drawn {seed}"[:60], "mhz": 1000, "width": r.randint(2, 6), "port_count": ports,
        "classes": {"alu": work(1, 1), "mul": work(2, 6), "div": work(12, 40, 6), "fp": work(2, 7), "fpdiv": work(10, 20, 5),
                    "vector": work(1, 3), "branch": work(1, 1), "load": work(0, 0), "store": work(1, 1), "other": work(1, 9)},
        "l1d": cache(l1_ways * 4 * KIB, l1_ways, l1), "l1i": cache(32 * KIB, 8, 4),
        "l2": cache(r.choice([512, 1024]) * KIB, 8, l2), "llc": cache(8192 * KIB, 16, r.randint(30, 60)),
        "dtlb": {"entries": 2048, "ways": 4, "walk": r.randint(10, 40)}, "itlb": {"entries": 512, "ways": 4, "walk": 20},
        "memory": r.randint(150, 300), "predictor": {"entries": 1024, "penalty": r.randint(8, 20)}}


def barecpc(*words):
    done = subprocess.run([BARECPC, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT, check=False)
    if done.returncode != 0:
        print("# " + done.stdout.replace("\n", "\n# "))
    return done.stdout


def measure_codes(arch, machine, folder):
    """Cycles of each code of CODE, by one boot of nb."""
    file = folder / "snippets"
    file.write_text("".join(f'-unroll_count 100 -asm "{code}"\n' for code in CODE[arch].values()))
    text = barecpc("nb", "--arch", arch, "--planted", machine, "-snippets", str(file))
    found = [float(n) for n in re.findall(r"Core cycles: ([0-9.]+)", text)]
    return dict(zip(CODE[arch], found)) if len(found) == len(CODE[arch]) else {}


def measure_sizes(arch, machine):
    """Cycles and L1D misses of a load, for each size, by one boot of chase."""
    event = L1D_MISS[arch]
    text = barecpc("run", "--arch", arch, "--planted", machine, "--quiet", "--", "chase", "-e", "PAPI_tot_cyc:u", "-e", event,
                   *map(str, SIZES))
    cycles, misses = {}, {}
    for size, name, each in re.findall(r"^chase/(\d+)\s+(\S+)\s+\d+\s+([0-9.]+)", text, re.M):
        (misses if name == event else cycles)[int(size)] = float(each)
    return cycles, misses


def levels(cycles):
    """The largest size of each level, found in the output alone: twice as much takes a third longer, half as much does not."""
    return [b for a, b, c in zip(SIZES, SIZES[1:], SIZES[2:])
            if cycles[b] < cycles[a] * 1.3 and cycles[c] > cycles[b] * 1.3]


def check_one(arch, what, planted, found, margin=0.0):
    ok = found is not None and abs(found - planted) <= margin
    print(f"# {arch}: {what}: planted {planted}, found {found}")
    points.check(ok, f"{arch}: {what}")


def check_codes(arch, m, found):
    for name in ("alu", "mul", "div", "fp"):
        if name in CODE[arch]:
            # nb prints two digits, and its loop takes no time next to a chain.
            check_one(arch, f"latency of {name}", m["classes"][name]["latency"], found.get(name), 0.01)
    own = "madd x, x, x, x" if arch == "arm64" else "adc r64, r64"
    check_one(arch, f"latency of the form {own}", m["forms"][own]["latency"], found.get("form"), 0.01)
    check_one(arch, "latency of a minimum", m["classes"]["fp"]["latency"], found.get("minimum"), 0.01)
    check_one(arch, "latency of an absolute value", m["classes"]["vector"]["latency"], found.get("absolute"), 0.01)
    alu, vector = set(m["classes"]["alu"]["ports"]), set(m["classes"]["vector"]["ports"])
    alus = len(alu)
    if arch == "x86_64":
        check_one(arch, "cycles of four independent popcnt", 4 / min(m["width"], alus), found.get("popcnt"), 0.05)
        check_one(arch, "a chain of movss next to one of rcx", max(m["classes"]["vector"]["latency"], 2 / len(alu | vector)),
                  found.get("movss"), 0.01)
    check_one(arch, "cycles of eight independent instructions", 8 / min(m["width"], alus), found.get("eight"), 0.05)


def check_sizes(arch, m, cycles, misses):
    if len(cycles) != len(SIZES) or len(misses) != len(SIZES):
        points.check(False, f"{arch}: chase measured each size")
        return
    l1, l2 = m["l1d"]["size"], m["l2"]["size"]
    # Half of a level: there the program's and the kernel's other lines have room.
    check_one(arch, "latency of L1D", m["l1d"]["latency"], round(cycles[l1 // 2]))
    check_one(arch, "latency of L2", m["l2"]["latency"], round(cycles[l2 // 2]))
    check_one(arch, "latency of the LLC", m["llc"]["latency"], round(cycles[SIZES[-1]]))
    # A level that is full shares its sets with these lines, and a cycle through ways + 1 lines of a set misses always.  So the
    # step is seen from the level's half or its whole on.
    found = [*levels(cycles), 0, 0]
    for name, size, step in (("L1D", l1, found[0]), ("L2", l2, found[1])):
        check_one(arch, f"size of {name}, seen at its half or its whole", size, step if step == size else 2 * step)
    check_one(arch, "misses of L1D for each load of twice its size", 1, round(misses[2 * l1], 1))


def check_wrong_files(folder):
    """A wrong file is refused by one line that names the place."""
    for change, line in (({"widht": 4}, "widht is not a property of a machine"), ({"width": 0}, "width 1 to 16"),
                         ({"forms": {"nop": {"latency": 1, "ports": [], "uops": 0}}}, "1 to 16 uops"), ({"mhz": 2 ** 40}, "mhz is missing, or is not a whole number"), ({"l2": {}}, "l2.size is missing"),
                         ({"dtlb": {"page": 1}}, "dtlb.page is not a property of a machine"), ({"name": ""}, "name is missing, empty"),
                         ({"memory": 2 ** 30}, "memory and penalty are at most 65536 cycles")):
        file = folder / "wrong.json"
        file.write_text(json.dumps({**draw_machine("wrong"), **change}))
        done = subprocess.run([BARECPC, "run", "--arch", "arm64", "--planted", file, "--", "spin"], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, check=False)
        points.check(done.returncode != 0 and line in done.stderr, f"{list(change)[0]}: {line}", done.stderr)
    done = subprocess.run([BARECPC, "run", "--boot", "uefi", "--planted", "seed=1", "--", "spin"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    points.check(done.returncode == 125 and "leave out --boot uefi" in done.stderr, "firmware's time is not planted", done.stderr)


def check_migration():
    """The plugin keeps facts that cannot be moved to another emulator."""
    program, plugin = (subprocess.run([ROOT / "scripts" / "qemu-pmu", *words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
                       for words in (("--path", "arm64"), ("--planted",)))
    commands = [{"execute": "qmp_capabilities"}, {"execute": "migrate", "arguments": {"uri": "exec:cat"}}, {"execute": "quit"}]
    done = subprocess.run([program, "-M", "virt", "-S", "-nodefaults", "-display", "none", "-icount", "shift=0", "-qmp", "stdio",
                           "-plugin", f"{plugin},seed=1"], input="\n".join(map(json.dumps, commands)), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    points.check("does not support migration" in done.stdout, "a planted machine refuses migration", done.stdout)


def main():
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        folder = pathlib.Path(name)
        check_wrong_files(folder)
        check_migration()
        for arch in ("arm64", "x86_64"):
            seed = seed_of(arch)
            print(f"# {arch}: seed {seed}")
            m = draw_machine(seed)
            file = str(folder / f"{arch}.json")
            pathlib.Path(file).write_text(json.dumps(m))
            check_codes(arch, m, measure_codes(arch, file, folder))
            check_sizes(arch, m, *measure_sizes(arch, file))
    return points.end()


sys.exit(main())
