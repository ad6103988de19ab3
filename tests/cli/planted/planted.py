#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The tools find what is planted in an emulated machine (qemu/planted/README.md).

The machine is drawn from a seed, by default the commit's, and written to a file that only the emulator reads.  The table has what
the tools find next to what is planted, and the numbers on which each row depends.  When one of these changes, so do these rows, and no
other.  BARECPC_SEED=N draws another machine, BARECPC_CAMPAIGN fifty."""

import copy
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
SIZES = [2 ** n * KIB for n in range(2, 11)]  # 4 KiB to 1 MiB
CAMPAIGN = bool(os.environ.get("BARECPC_CAMPAIGN"))
OWN = {"arm64": "madd x, x, x, x", "x86_64": "adc r64, r64"}  # forms with costs of their own
# A chain and eight that are independent of each other; registers that nb leaves to the code
CODE = {
    "arm64": {"alu": "add x2, x2, x2", "mul": "mul x2, x2, x2", "div": "sdiv x2, x2, x3", "fp": "fadd d0, d0, d0",
              "form": "madd x2, x2, x3, x4", "minimum": "fmin d0, d0, d1", "absolute": "fabs d0, d0",
              "eight": "; ".join(f"add x{n}, x2, x3" for n in range(4, 12))},
    "x86_64": {"alu": "add rax, rax", "mul": "imul rax, rax", "fp": "addsd xmm0, xmm0",
               "eight": "; ".join(f"lea r{n}, [rax+rbx]" for n in range(8, 14)) + "; lea rcx, [rax+rbx]; lea rdx, [rax+rbx]",
               # INC leaves the carry, so the chain is ADC's.  POPCNT is no POP, MOVSS no string instruction that counts in rcx.
               "form": "mov r8, r9; adc r8, r9; inc rcx", "minimum": "minsd xmm0, xmm0", "absolute": "andpd xmm0, xmm1",
               "popcnt": "; ".join(f"popcnt r{n}, rax" for n in (8, 9, 10, 11)), "movss": "lea rcx, [rcx+1]; movss xmm8, xmm9"}}
L1D_MISS = {"arm64": "l1d_cache_refill:u", "x86_64": "r0151:u"}

# Each place is used, or lost to bad guesses, the front end and the back end.  arm64 has no event for bad guesses.
PLACES = {"arm64": ["stall_slot:u", "stall_slot_frontend:u", "stall_slot_backend:u"],
          "x86_64": ["PAPI_tot_cyc:u", "r02c2:u", "r0073:u", "r019c:u", "r02a4:u"]}

points = Points()


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
        "forms": {form: work(7, 9) for form in OWN.values()},
        "name": f"drawn {seed}"[:60], "mhz": 1000, "width": r.randint(2, 6), "port_count": ports,
        "classes": {"alu": work(1, 1), "mul": work(2, 6), "div": work(12, 40, 6), "fp": work(2, 7), "fpdiv": work(10, 20, 5),
                    "vector": work(1, 3), "branch": work(1, 1), "load": work(0, 0), "store": work(1, 1), "other": work(1, 9)},
        "l1d": cache(l1_ways * 4 * KIB, l1_ways, l1), "l1i": cache(32 * KIB, 8, 4),
        "l2": cache(r.choice([256, 512]) * KIB, 8, l2), "llc": cache(8192 * KIB, 16, r.randint(30, 60)),
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
    file.write_text("".join(f'-unroll_count 100 -n_measurements 4 -warm_up_count 2 -asm "{code}"\n' for code in CODE[arch].values()))
    text = barecpc("nb", "--arch", arch, "--planted", machine, "-snippets", str(file))
    found = [float(n) for n in re.findall(r"Core cycles: ([0-9.]+)", text)]
    return dict(zip(CODE[arch], found)) if len(found) == len(CODE[arch]) else {}


def measure_sizes(arch, machine):
    """Cycles and L1D misses of a load, for each size, by one boot of chase."""
    event = L1D_MISS[arch]
    text = barecpc("run", "--arch", arch, "--planted", machine, "--quiet", "--", "chase", "-r", "3", "-e", "PAPI_tot_cyc:u", "-e", event,
                   *map(str, SIZES))
    cycles, misses = {}, {}
    for size, name, each in re.findall(r"^chase/(\d+)\s+(\S+)\s+\d+\s+([0-9.]+)", text, re.M):
        (misses if name == event else cycles)[int(size)] = float(each)
    return cycles, misses


def levels(cycles, misses):
    """The largest sizes of L1D and L2, found in the output alone: fewer than half of the loads miss."""
    l1, far = max((s for s in SIZES if misses[s] < 0.5), default=0), cycles[SIZES[-1]]
    return l1, max(s for s in SIZES if cycles[s] <= (cycles.get(4 * l1, far) + far) / 2)


def code_rows(arch, m, found):
    """Rows: what, the numbers that it depends on, what is planted, what was found, and how far off that may be.  nb prints two digits."""
    c = m["classes"]
    alu, vector = set(c["alu"]["ports"]), set(c["vector"]["ports"])
    each = 1 / min(m["width"], len(alu))
    rows = [(name, [f"{at}.latency"], latency, 0.01) for name, at, latency in (
        ("alu", "classes.alu", c["alu"]["latency"]), ("mul", "classes.mul", c["mul"]["latency"]), ("div", "classes.div", c["div"]["latency"]),
        ("fp", "classes.fp", c["fp"]["latency"]), ("minimum", "classes.fp", c["fp"]["latency"]),
        ("absolute", "classes.vector", c["vector"]["latency"]), ("form", f"forms.{OWN[arch]}", m["forms"][OWN[arch]]["latency"]))]
    rows += [("popcnt", ["width", "classes.alu.ports"], 4 * each, 0.05), ("eight", ["width", "classes.alu.ports"], 8 * each, 0.05),
             ("movss", ["width", "classes.vector.latency", "classes.alu.latency", "classes.alu.ports", "classes.vector.ports"],
              max(c["vector"]["latency"], c["alu"]["latency"], 2 / min(m["width"], len(alu | vector))), 0.01)]
    return [(f"cycles of {name}", on, planted, found.get(name), margin) for name, on, planted, margin in rows if name in CODE[arch]]


def place_rows(arch, m, machine):
    """A branch between two reads may be predicted wrong at one end of the loop only.  That is at most 20 of the loop's 768 cycles."""
    text = barecpc("run", "--arch", arch, "--planted", machine, "--quiet", "--", "chase", "-r", "1", "-e", ",".join(PLACES[arch]), str(16 * KIB))
    first, *parts = [int(n) for n in re.findall(r"^chase/\d+\s+\S+:u\s+(\d+)", text, re.M)] or [0]
    if arch == "arm64":
        return [("STALL_SLOT_FRONTEND and _BACKEND in STALL_SLOT", [], 1, sum(parts) / (first or 1), 0.03)]
    return [("places in a cycle, by their four events", ["width"], m["width"], sum(parts) / (first or 1), 0.03 * m["width"])]


def size_rows(m, cycles, misses):
    if len(cycles) != len(SIZES) or len(misses) != len(SIZES):
        return [("sizes that chase measured", [], len(SIZES), len(cycles), 0)]
    l1, l2 = m["l1d"]["size"], m["l2"]["size"]
    # Half of a level: there the program's and the kernel's other lines have room.
    rows = [(f"latency of {name}", [f"{name}.latency"], m[name]["latency"], round(cycles[size]), 0)
            for name, size in (("l1d", l1 // 2), ("l2", l2 // 2), ("llc", SIZES[-1]))]
    # A level that is full shares its sets with these lines, and a cycle through ways + 1 lines of a set misses always.  So the
    # step is seen from the level's half or its whole on.
    for name, size, step in zip(("l1d", "l2"), (l1, l2), levels(cycles, misses)):
        rows.append((f"size of {name}, seen at its half or its whole", [f"{name}.size"], size, step if step == size else 2 * step, 0))
    return [*rows, ("misses of l1d for each load of twice its size", [], 1, round(misses[2 * l1], 1), 0)]


def changed(m, number):
    """The machine with another value of one number."""
    m = copy.deepcopy(m)
    *path, last = number.split(".")
    at = m
    for key in path:
        at = at[key]
    if last == "ports":
        at[last] = at[last][:-1] or [0, 1]
    elif last == "size":  # l1d keeps 4 KiB in each way
        at[last] = {32: 64, 64: 32, 256: 512, 512: 256}[at[last] // KIB] * KIB
        at["ways"] = at[last] // (4 * KIB) if number == "l1d.size" else at["ways"]
    else:
        at[last] += -1 if last == "width" and at[last] > 1 else 1 if number == "l1d.latency" else 2
    return m


def measure(arch, m, folder, sizes=True):
    file = str(folder / f"{arch}.json")
    pathlib.Path(file).write_text(json.dumps(m))
    rows = code_rows(arch, m, measure_codes(arch, file, folder)) + place_rows(arch, m, file)
    return rows + size_rows(m, *measure_sizes(arch, file)) if sizes else rows


def check_machine(arch, seed, folder):
    m = draw_machine(seed)
    base = measure(arch, m, folder)
    for what, on, planted, found, margin in base:
        print(f"# {arch}: {what}: planted {planted}, found {found}; depends on {', '.join(on) or 'none'}")
        points.check(found is not None and abs(found - planted) <= margin, f"{arch}: {what}")
    # A change that only nb sees takes a second, that of a cache the whole time again.
    numbers = sorted({n for what, on, *_ in base for n in on if CAMPAIGN or not what.startswith(("latency", "size"))})
    for number in random.Random(seed).sample(numbers, 2):
        wrong = []
        other = measure(arch, changed(m, number), folder, CAMPAIGN)
        for (what, on, _, before, margin), (_, _, planted, found, _) in zip(base, other):
            if found is None or abs(found - planted) > margin or number not in on and abs(found - before) > margin:
                wrong.append((what, before, found, planted))
        points.check(not wrong, f"{arch}: another {number} changes the rows that depend on it, and no other", wrong)


def check_wrong_files(folder):
    """A wrong file is refused by one line that names the place."""
    for change, line in (({"widht": 4}, "widht is not a property of a machine"), ({"width": 0}, "width 1 to 16"),
                         ({"forms": {"nop": {"latency": 1, "ports": [], "uops": 0}}}, "1 to 16 uops"),
                         ({"mhz": 2 ** 40}, "mhz is missing, or is not a whole number"), ({"l2": {}}, "l2.size is missing"),
                         ({"dtlb": {"page": 1}}, "dtlb.page is not a property of a machine"), ({"name": ""}, "name is missing, empty"),
                         ({"memory": 2 ** 30}, "memory and penalty are at most 65536 cycles"),
                         ({"classes": {"x": {}}}, "classes.x is not a property"), ({"predictor": {"x": 1}}, "predictor.x is not a property"),
                         ({"faults": []}, "faults is not an object"), ({"faults": {"shared_msrs": 1}}, "faults.shared_msrs is not true or false"),
                         ({"l1i": {"size": 512, "ways": 8, "line": 64, "latency": 4, "policy": "qlru_H.._M._R._U."}}, "l1i.policy is not")):
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
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        for n in range(50 if CAMPAIGN else 1):
            for arch in ("arm64", "x86_64"):
                seed = f"{os.environ.get('BARECPC_SEED') or commit} {arch} {n or ''}".strip()
                print(f"# {arch}: seed {seed}")
                check_machine(arch, seed, folder)
    return points.end()


sys.exit(main())
