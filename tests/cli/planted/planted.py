#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The tools find what is planted in an emulated machine (qemu/planted/README.md).

The machine is drawn from a seed, by default the commit's, and written to a file that only the emulator reads.  The table has what
the tools find next to what is planted, and the numbers on which each row depends.  When one of these changes, so do these rows, and no
other.  BARECPC_SEED=N draws another machine.  BARECPC_CAMPAIGN draws fifty, as many as its time allows.  The next run of the same commit and
seed goes on, with the machine that failed if one did.  BARECPC_CHANGES=all changes each number."""

import copy
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]
BARECPC = str(ROOT / "scripts" / "barecpc")
KIB = 1024
SIZES = [2 ** n * KIB for n in range(2, 10)]  # 4 KiB to 512 KiB
CAMPAIGN = bool(os.environ.get("BARECPC_CAMPAIGN"))
CAMPAIGN_SECONDS, DONE = 1500, ROOT / "build" / "planted-done"  # the commit, the seed, how many of the fifty machines passed before one failed
ALL_CHANGES = os.environ.get("BARECPC_CHANGES") == "all"
OWN = {"arm64": "madd x, x, x, x", "x86_64": "adc r64, r64"}  # forms with costs of their own
# nb measures CODE: a chain and eight that are independent of each other, in registers that nb leaves to the code.  A program has 2000 of
# each of COPIES: POPCNT is no POP, MOVSS no string instruction that counts in rcx.  INC leaves the carry, so the form's chain is ADC's.
CODE = {"arm64": {"alu": "add x2, x2, x2", "mul": "mul x2, x2, x2", "form": "madd x2, x2, x3, x4",
                  "eight": "; ".join(f"add x{n}, x2, x3" for n in range(4, 12))},
        "x86_64": {"alu": "add rax, rax", "mul": "imul rax, rax", "form": "mov r8, r9; adc r8, r9; inc rcx",
                   "eight": "; ".join(f"lea r{n}, [rax+rbx]" for n in range(8, 14)) + "; lea rcx, [rax+rbx]; lea rdx, [rax+rbx]"}}
COPIES = {"arm64": {"div": "sdiv x2, x2, x3", "fp": "fadd d0, d0, d0", "minimum": "fmin d0, d0, d1", "absolute": "fabs d0, d0"},
          "x86_64": {"fp": "addsd xmm0, xmm0", "minimum": "minsd xmm0, xmm0", "absolute": "andpd xmm0, xmm1",
                     "popcnt": "popcnt rax, r14; popcnt rbx, r14; popcnt rcx, r14; popcnt rdx, r14",
                     "movss": "lea rcx, [rcx+1]; movss xmm8, xmm9"}}
# Loops of a program.  WALK goes through {n} places at steps of {by} bytes, and each load waits for the one before.  JUMPS goes through {n} pages of
# code.  ALIAS has a branch that is taken, and one {n} bytes on that is not.  In GUESS bit {n} of a counter decides a branch, before a
# barrier: with bit 1 it is predicted wrong 3 times of 4.
PASSES, ROUNDS = 100, 1000
LOOPS = {
    "arm64": {"walk": "mov x2, x14; mov x5, {by}; mov x6, {n}; mul x6, x6, x5; mov x4, %d; 1: mov x3, {n}; 2: ldr x7, [x2]; add x2, x2, x7; "
                      "add x2, x2, x5; subs x3, x3, 1; b.ne 2b; sub x2, x2, x6; subs x4, x4, 1; b.ne 1b" % PASSES,
              "jumps": "mov x4, %d; 1: .rept {n}; b 2f; .skip 4156; 2:; .endr; subs x4, x4, 1; b.ne 1b" % PASSES,
              "alias": "mov x2, 0; mov x3, %d; 1: cbz x2, 2f; .skip {n} - 4; 2: cbnz x2, 3f; 3: subs x3, x3, 1; b.ne 1b" % ROUNDS,
              "guess": "mov x2, 0; mov x3, %d; 1: add x2, x2, 1; tst x2, 1 << {n}; b.eq 2f; nop; 2: isb; subs x3, x3, 1; b.ne 1b" % ROUNDS},
    "x86_64": {"walk": "mov rbx, r14; mov edx, %d; 1: mov ecx, {n}; 2: add rbx, [rbx]; add rbx, {by}; dec ecx; jnz 2b; sub rbx, {n} * {by}; "
                       "dec edx; jnz 1b" % PASSES,
               "jumps": "mov edx, %d; 1: .rept {n}; jmp 2f; .skip 4155; 2:; .endr; dec edx; jnz 1b" % PASSES,
               "alias": "xor eax, eax; mov ecx, %d; 1: test eax, eax; jz 2f; .skip {n} - 6; 2: jnz 3f; 3: dec ecx; jnz 1b" % ROUNDS,
               "guess": "xor eax, eax; mov ecx, %d; 1: inc eax; test eax, 1 << {n}; jz 2f; nop; 2: lfence; dec ecx; jnz 1b" % ROUNDS}}
KERNEL = """BENCH(%s) {
    area = area ? area : payload_contig(2 << 20);
    BENCH_LOOP(b) { register char *start __asm__(%s) = area; __asm__ volatile("%s" : : "r"(start) : %s, "cc", "memory"); } }"""
USED = {"arm64": ('"x14"', '"x2", "x3", "x4", "x5", "x6", "x7"'), "x86_64": ('"r14"', '"rax", "rbx", "rcx", "rdx", "r13"')}
DATA_PAGES, CODE_PAGES, DISTANCES, FAR = (160, 192, 224, 256), (32, 48, 64, 80), (128, 256, 512, 1024), 32 * KIB
PLACE = 4 * KIB + 64  # from page to page, and to the next set of a cache
MEASURED = {**{f"page_{n}": ("walk", {"n": n, "by": PLACE}) for n in DATA_PAGES}, **{f"code_{n}": ("jumps", {"n": n}) for n in CODE_PAGES},
            **{f"alias_{n}": ("alias", {"n": n}) for n in DISTANCES}, **{f"guess_{n}": ("guess", {"n": n}) for n in (1, 20)},
            "lines": ("walk", {"n": 1024, "by": 64}), "memory": ("walk", {"n": 21, "by": FAR})}
MISSES = {"arm64": ["l1d_cache_refill:u", "l2d_cache_refill:u"], "x86_64": ["r0151:u", "r3f24:u"]}  # of L1D and L2

# Each place is used, or lost to bad guesses, the front end and the back end.  arm64 has no event for bad guesses.
PLACES = {"arm64": ["stall_slot:u", "stall_slot_frontend:u", "stall_slot_backend:u"],
          "x86_64": ["PAPI_tot_cyc:u", "r02c2:u", "r0073:u", "r019c:u", "r02a4:u"]}

points = Points()


def draw_machine(seed):
    """A machine whose levels differ, whose TLB holds what chase and triad go through, and whose L1D has 4 KiB in each way."""
    r = random.Random(seed)
    ports = r.randint(4, 8)

    def work(least, most, busy=1):
        return {"latency": r.randint(least, most), "busy": busy, "ports": sorted(r.sample(range(ports), r.randint(1, ports)))}

    def cache(size, ways, latency):
        return {"size": size, "ways": ways, "line": 64, "latency": latency, "policy": "lru"}
    l1_ways, l1, l2, tlb_ways, code_ways = r.choice([4, 8]), r.randint(3, 6), r.randint(10, 20), r.choice([6, 7]), r.choice([4, 6, 8])
    return {
        "forms": {form: work(7, 9) for form in OWN.values()},
        "name": f"drawn {seed}"[:60], "mhz": 1000, "width": r.randint(2, 6), "port_count": ports,
        "classes": {"alu": work(1, 1), "mul": work(2, 6), "div": work(12, 40, 6), "fp": work(2, 7), "fpdiv": work(10, 20, 5),
                    "vector": work(1, 3), "branch": work(1, 1), "load": work(0, 0), "store": work(1, 1), "other": work(1, 9)},
        "l1d": cache(l1_ways * 4 * KIB, l1_ways, l1), "l1i": cache(32 * KIB, 8, 4),
        "l2": cache(r.choice([128, 256]) * KIB, 8, l2), "llc": cache(20 * FAR, 20, r.randint(30, 60)), "prefetcher": "none",
        "dtlb": {"entries": 32 * tlb_ways, "ways": tlb_ways, "walk": r.randint(10, 40)},
        "itlb": {"entries": 8 * code_ways, "ways": code_ways, "walk": r.randint(10, 40)},
        "memory": r.randint(150, 300), "predictor": {"entries": r.choice([256, 512, 1024]), "penalty": r.randint(8, 20)}}


def barecpc(*words):
    done = subprocess.run([BARECPC, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT, check=False)
    if done.returncode != 0:
        print("# " + done.stdout.replace("\n", "\n# "))
    return done.stdout


def build_loops(arch, folder):
    """The program of MEASURED."""
    form, (area, changed_registers) = (".intel_syntax noprefix; %s; .att_syntax" if arch == "x86_64" else "%s"), USED[arch]
    code = {name: LOOPS[arch][loop].format(**numbers) for name, (loop, numbers) in MEASURED.items()}
    begin, end = ("mov r13d, 20", "dec r13d; jnz 1b") if arch == "x86_64" else ("mov x4, 20", "subs x4, x4, 1; b.ne 1b")
    code.update((name, f"{begin}; 1: .rept 100; {text}; .endr; {end}") for name, text in COPIES[arch].items())
    (folder / "loops.c").write_text("#include <bench.h>\n#include <payload.h>\nstatic char *area;\n" + "\n".join(
        KERNEL % (name, area, form % text, changed_registers) for name, text in code.items()))
    subprocess.run([ROOT / "scripts/barecpc-cc", "--arch", arch, "-O1", "-o", folder / f"loops-{arch}", folder / "loops.c", "-lpayload"], check=True)


def measure_codes(arch, machine, folder):
    """Cycles of each code of CODE by a boot of nb, and of COPIES and MEASURED by a boot of their program."""
    file = folder / "snippets"
    file.write_text("".join(f'-unroll_count 100 -n_measurements 4 -warm_up_count 2 -asm "{code}"\n' for code in CODE[arch].values()))
    text = barecpc("nb", "--arch", arch, "--planted", machine, "-snippets", str(file))
    found = [float(n) for n in re.findall(r"Core cycles: ([0-9.]+)", text)]
    text = barecpc("run", "--arch", arch, "--planted", machine, "--quiet", "--payload", str(folder / f"loops-{arch}"), "--", f"loops-{arch}",
                   "-r", "1", "-e", "PAPI_tot_cyc:u")
    loops = {name: int(count) for name, count in re.findall(r"^(\w+) +PAPI_tot_cyc:u +(\d+)", text, re.M)}
    loops.update((name, loops[name] / 2000) for name in COPIES[arch] if name in loops)
    return {**dict(zip(CODE[arch], found)), **loops} if len(found) == len(CODE[arch]) else {}


def measure_sizes(arch, machine):
    """For each size: cycles and L1D misses of a load by a boot of chase.  A boot of triad gives the misses of an element in L1D and L2."""
    found = []
    for program, events, of in (("chase", ["PAPI_tot_cyc:u", MISSES[arch][0]], 1), ("triad", MISSES[arch], 24)):
        text = barecpc("run", "--arch", arch, "--planted", machine, "--quiet", "--", program, "-r", "2", "-e", ",".join(events),
                       *(str(size // of) for size in SIZES))
        rows = re.findall(rf"^{program}/(\d+)\s+(\S+)\s+\d+\s+([0-9.]+)", text, re.M)
        each = {(int(number), name): float(count) for number, name, count in rows}
        found += [{size: each[size // of, event] for size in SIZES if (size // of, event) in each} for event in events]
    return found


def levels(cycles, misses):
    """The largest sizes of L1D and L2, found in the output alone: fewer than half of the loads miss."""
    l1, far = max((s for s in SIZES if misses[s] < 0.5), default=0), cycles[SIZES[-1]]
    return l1, max(s for s in SIZES if cycles[s] <= (cycles.get(4 * l1, far) + far) / 2)


def code_rows(arch, m, found):
    """Rows: what, the numbers that it depends on, what is planted, what was found, and how far off that may be.
    nb prints two digits.  Two instructions of each of 20 passes, and two wrong predictions, are below 0.05 cycles of each of 2000 COPIES."""
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
    return [(f"cycles of {name}", on, planted, found.get(name), margin if name in CODE[arch] else 0.1) for name, on, planted, margin in rows
            if name in CODE[arch] or name in COPIES[arch]] + \
        loop_rows(m, found)


def loop_rows(m, found):
    """Rows of the loops of MEASURED.  A walk's step is a load and two additions, for which it has to wait.  The kernel takes parts of L1D
    and TLB before a run, which costs one of its PASSES: at most each page's walk, and each line's way to L2.  The last jump's successor is in a
    page of its own, which is an 80th of a walk of 42 cycles at most."""
    if not MEASURED.keys() <= found.keys():
        return [("loops that were measured", [], len(MEASURED), 0, 0)]

    def step(name, numbers):
        """The first costly number: above 45 % of the largest.  Code that fills a TLB has a page more, whose set misses."""
        each = [found[f"{name}_{n}"] / (n if name == "code" else 1) for n in numbers]
        return next(n for n, cycles in zip(numbers, each) if cycles > 0.45 * max(each))
    few, _, _, most = (found[f"page_{n}"] / n / PASSES for n in DATA_PAGES)
    adds, near, next_level = 2 * m["classes"]["alu"]["latency"], m["l1d"]["latency"], m["l2"]["latency"]
    ahead, taken = m["prefetcher"] == "next-line", 0.1 + (m["dtlb"]["walk"] + next_level - near) / PASSES
    changes = ["prefetcher"] * (m["l1d"]["ways"] > 4)  # It brings as many lines again: walks through pages fill 4 ways.
    costly = [n for n in DATA_PAGES if found[f"page_{n}"] / n / PASSES > (few + most) / 2]
    return [
        ("entries of the data TLB", ["dtlb.entries"], m["dtlb"]["entries"], costly[0] - 32, 0),
        ("walk of the data TLB", ["dtlb.walk"], m["dtlb"]["walk"], most - few, taken),
        ("entries of the instruction TLB", ["itlb.entries"], m["itlb"]["entries"], step("code", CODE_PAGES) - 16, 0),
        ("walk of the instruction TLB", ["itlb.walk"], m["itlb"]["walk"], found["code_80"] / 80 / PASSES, 1),
        ("latency of l1d by a walk", ["l1d.latency", "classes.alu.latency"], near + adds, few, taken),
        ("entries of the predictor", ["predictor.entries"], m["predictor"]["entries"], step("alias", DISTANCES), 0),
        ("penalty of a wrong prediction", ["predictor.penalty"], m["predictor"]["penalty"],
         (found["guess_1"] - found["guess_20"]) / (ROUNDS * 3 / 4), 1),
        ("latency of memory", ["memory", "classes.alu.latency"], m["memory"] + adds, found["memory"] / 21 / PASSES, taken),
        ("cycles of a line in order", [*changes, "l1d.latency", "l2.latency", "classes.alu.latency"],
         adds + ((near + next_level) / 2 if ahead else next_level), found["lines"] / 1024 / PASSES, 0.5)]


def place_rows(arch, m, machine):
    """A branch may be predicted wrong at each end of the loop, or not.  That is twice 22 cycles, the branch's and a part of one, of 700."""
    text = barecpc("run", "--arch", arch, "--planted", machine, "--quiet", "--", "chase", "-r", "1", "-e", ",".join(PLACES[arch]), str(16 * KIB))
    first, *parts = [int(n) for n in re.findall(r"^chase/\d+\s+\S+:u\s+(\d+)", text, re.M)] or [9]
    if arch == "arm64":  # Where one port has the loop's sums and branches, the branch that ends it loses all places: there are no stalls then.
        none = not first and m["width"] > 1 and len(m["classes"]["alu"]["ports"]) > 1
        return [("STALL_SLOT_FRONTEND and _BACKEND in STALL_SLOT", [], 1, 0 if none else (sum(parts) + 1) / (first + 1), 0.03)]
    return [("places in a cycle, by their four events", ["width"], m["width"], sum(parts) / (first or 1), 0.07 * m["width"])]


def size_rows(m, cycles, misses, *triad):
    if (least := min(map(len, (cycles, misses, *triad)))) != len(SIZES):
        return [("sizes that chase and triad measured", [], len(SIZES), least, 0)]
    l1, l2 = m["l1d"]["size"], m["l2"]["size"]
    # Half of a level: there the program's and the kernel's other lines have room.  Parts of a small L1D that they take between two runs
    # come from L2 again, once a miss.  Two wrong predictions, of 22 cycles each, and a walk are below a cycle of each of 128 loads.
    l1_found = cycles[l1 // 2] - misses[l1 // 2] * (m["l2"]["latency"] - m["l1d"]["latency"])
    rows = [("latency of l1d by chase", ["l1d.latency"], m["l1d"]["latency"], l1_found, 1)]
    rows += [(f"latency of {name} by chase", [f"{name}.latency"], m[name]["latency"], round(cycles[size]), 0)
             for name, size in (("l2", l2 // 2), ("llc", SIZES[-1]))]
    # A level that is full shares its sets with these lines, and a cycle through ways + 1 lines of a set misses always.  So the
    # step is seen from the level's half or its whole on.
    # An element of triad, whose three arrays fill the size, takes three eighths of a line.
    steps = [*levels(cycles, misses), *(max((s for s in SIZES if found[s] < 3 / 16), default=0) for found in triad)]
    for name, size, tool, step in zip(("l1d", "l2") * 2, (l1, l2) * 2, ("chase", "chase", "triad", "triad"), steps):
        rows.append((f"size of {name} by {tool}, its half or its whole", [f"{name}.size"], size, step if step == size else 2 * step, 0))
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
        at[last] = {16: 32, 32: 16, 128: 256, 256: 128}[at[last] // KIB] * KIB
        at["ways"] = at[last] // (4 * KIB) if number == "l1d.size" else at["ways"]
    elif last == "entries" and "ways" in at:  # The sets stay.
        sets = at[last] // at["ways"]
        at["ways"] = {6: 7, 7: 6}[at["ways"]] if path == ["dtlb"] else {4: 6, 6: 8, 8: 4}[at["ways"]]
        at[last] = sets * at["ways"]
    elif last in ("entries", "prefetcher"):
        at[last] = {256: 512, 512: 1024, 1024: 256, "none": "next-line"}[at[last]]
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
    build_loops(arch, folder)
    base = measure(arch, m, folder)
    for what, on, planted, found, margin in base:
        print(f"# {arch}: {what}: planted {planted}, found {found}; depends on {', '.join(on) or 'none'}")
        points.check(found is not None and abs(found - planted) <= margin, f"{arch}: {what}")
    # chase and triad, which take most of the time, boot again for what their rows alone show.
    numbers = sorted({n for what, on, *_ in base for n in on})
    for number in numbers if ALL_CHANGES else random.Random(seed).sample(numbers, 1 if CAMPAIGN else 2):
        wrong = []
        other = measure(arch, changed(m, number), folder, number.endswith(".size") or number in ("l2.latency", "llc.latency"))
        for (what, on, _, before, margin), (_, _, planted, found, then) in zip(base, other):
            # Both values of a row that stays were measured: one may be a margin too high, and the other a margin too low.
            if found is None or abs(found - planted) > then or number not in on and abs(found - before) > margin + then:
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
                         ({"l2": {"size": 512, "ways": 8, "line": 0, "latency": 4, "policy": "lru", "announced": 1}}, "l2.announced is not"),
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
        chosen, done, until = os.environ.get("BARECPC_SEED") or commit, 0, time.monotonic() + CAMPAIGN_SECONDS
        if CAMPAIGN and DONE.exists() and (last := DONE.read_text().splitlines())[:-1] == [commit, chosen]:
            done = int(last[-1]) % 50
        for n in range(done, 50 if CAMPAIGN else 1):
            if time.monotonic() > until:
                print(f"# {n} of 50 machines; the next run goes on")
                break
            for arch in ("arm64", "x86_64"):
                seed = f"{chosen} {arch} {n or ''}".strip()
                print(f"# {arch}: seed {seed}")
                check_machine(arch, seed, folder)
            if CAMPAIGN and points.passed():
                DONE.write_text(f"{commit}\n{chosen}\n{n + 1}\n")
    return points.end()


sys.exit(main())
