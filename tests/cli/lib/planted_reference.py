#!/usr/bin/env -S python3 -B
"""A machine with planted properties, made from the rules in qemu/planted/README.md alone.

    planted_reference.py MACHINE TRACE [COUNT]

It reads a machine's file and a trace.  It gives each instruction the cycle in which it retires, and prints where the trace says
otherwise.  It shares nothing with qemu/planted/core.c.  With COUNT it ends after so many instructions."""

import json
import sys

MASK = 2 ** 64 - 1
SHOWN = 5  # differences that are printed
SNIPPET = 8  # instructions


def xorshift(state):
    """xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"): state and number."""
    state ^= state >> 12
    state ^= state << 25 & MASK
    state ^= state >> 27
    return state, state * 0x2545F4914F6CDD1D & MASK


class Cache:
    """Lines in sets.  For LRU and FIFO a set is a list, whose first is replaced; else it has a place for each way."""

    def __init__(self, m, seed=0):
        self.sets = [[] for _ in range(m["size"] // m["line"] // m["ways"])]
        self.trees = [[0] * m["ways"] for _ in self.sets] if m["policy"] == "plru" else []
        self.ages = [{} for _ in self.sets]
        self.qlru = [int(d) for d in m["policy"] if d.isdigit()] if m["policy"].startswith("qlru") else None
        self.ways, self.line, self.latency, self.policy, self.random = m["ways"], m["line"], m["latency"], m["policy"], seed

    def access(self, line):
        """True if the line is there.  It is filled."""
        at = line % len(self.sets)
        ways = self.sets[at]
        hit = line in ways
        if self.policy in ("lru", "fifo"):
            if hit and self.policy == "fifo":
                return True
            if hit:
                ways.remove(line)
            elif len(ways) == self.ways:
                del ways[0]
            ways.append(line)
            return hit
        if hit:
            way = ways.index(line)
        elif len(ways) < self.ways:
            way = len(ways)
            ways.append(line)
        else:
            way = self.victim(at)
            ways[way] = line
        if self.trees:
            self.use(self.trees[at], way)
        if self.qlru:
            self.grow_old(self.ages[at], way, hit)
        return hit

    def grow_old(self, ages, way, hit):
        x, y, fill, _, update = self.qlru
        ages[way] = {3: x, 2: y}.get(ages[way], 0) if hit else fill
        if 3 in ages.values():
            return
        aging = [w for w in ages if update in (0, 2) or w != way]
        more = 3 - max((ages[w] for w in aging), default=0) if update < 2 else 1
        for w in aging:
            ages[w] += more

    def victim(self, at):
        if self.qlru:
            ways = range(self.ways) if self.qlru[3] < 2 else range(self.ways - 1, -1, -1)
            return next((w for w in ways if self.ages[at][w] == 3), ways[0])
        if self.policy == "random":
            self.random, number = xorshift(self.random)
            return (number >> 32) % self.ways
        tree, node = self.trees[at], 1
        while node < self.ways:
            node = 2 * node + tree[node]
        return node - self.ways

    def use(self, tree, way):
        """Node n of the tree has 2 n and 2 n + 1 below it; the ways are the leaves."""
        node = way + self.ways
        while node > 1:
            tree[node // 2] = 1 - node % 2
            node //= 2


def tlb(m):
    return Cache({"size": m["entries"], "ways": m["ways"], "line": 1, "latency": 0, "policy": "lru"})


class Ports:
    """The cycles of each port that are taken.  A cycle where work does not fit never fits again, so each length of work skips those:
    no[port, busy][cycle] is a later one that may fit."""

    def __init__(self, count):
        self.taken, self.no = [set() for _ in range(count)], {}

    def free_from(self, port, cycle, busy):
        taken, no = self.taken[port], self.no.setdefault((port, busy), {})
        passed = []
        while True:
            passed.append(cycle)
            if cycle in no:
                cycle = no[cycle]
                continue
            blocked = next((c for c in range(cycle + busy - 1, cycle - 1, -1) if c in taken), None)
            if blocked is None:
                break
            cycle = blocked + 1
        for c in passed[:-1]:
            no[c] = cycle
        return cycle

    def take(self, work, cycle):
        ports, busy = work[:2]
        found, best = min((self.free_from(p, cycle, busy), p) for p in ports)
        self.taken[best].update(range(found, found + busy))
        return found

    def forget(self, cycle):
        """Nothing begins before the cycle any more."""
        self.taken = [{c for c in taken if c >= cycle} for taken in self.taken]
        self.no = {key: {c: to for c, to in no.items() if c >= cycle} for key, no in self.no.items()}


class Form:
    """The decoder's facts, as the trace has them."""

    def __init__(self, line, machine):
        line, _, text = line.rstrip("\n").partition(" text=")
        words = line.split()
        self.name = words[2]
        facts = dict(w.split("=") for w in words[3:] if "=" in w)
        self.work = machine.costs.get(text) or machine.work[facts["class"]]
        self.reads = [int(r) for r in facts["reads"].split(",")] if "reads" in facts else []
        self.writes = [int(r) for r in facts["writes"].split(",")] if "writes" in facts else []
        self.conditional, self.waits = "conditional" in words, "waits" in words
        self.idiom, self.moves_only, self.no_work = "idiom" in words, "moves-only" in words, "no-work" in words


class Machine:
    """The parts that the CPUs share."""

    def __init__(self, file):
        self.m = file
        self.work, self.costs = ({name: (sorted(c["ports"]), c.get("busy", 1), c["latency"], c.get("uops", 1)) for name, c in costs.items()}
                                 for costs in (file["classes"], file.get("forms", {})))
        self.work.setdefault("move", self.work["alu"])
        self.seed = file.get("seed", 1) | 1 << 63
        self.l2, self.llc = Cache(file["l2"], self.seed + 1000 & MASK), Cache(file["llc"], self.seed + 2000 & MASK)
        self.cpus = {}

    def prefetch(self, first, line):
        """Bring a line that the program did not ask for."""
        if line * first.line % 4096 and not first.access(line) and not self.l2.access(line * first.line // self.l2.line):
            self.llc.access(line * first.line // self.llc.line)

    def cpu(self, number):
        if number not in self.cpus:
            self.cpus[number] = Cpu(self, number)
        return self.cpus[number]

    def reach(self, first, line):
        """The cycles of the level that has a line of the first level."""
        if first.access(line):
            return first.latency
        for level in (self.l2, self.llc):
            if level.access(line * first.line // level.line):
                return level.latency
        return self.m["memory"]


class Cpu:
    def __init__(self, machine, number):
        m = machine.m
        self.machine, self.width, self.predictor = machine, m["width"], m["predictor"]
        self.l1d = Cache(m["l1d"], machine.seed + 4 * number + 1 & MASK)
        self.l1i = Cache(m["l1i"], machine.seed + 4 * number + 2 & MASK)
        self.dtlb, self.itlb = tlb(m["dtlb"]), tlb(m["itlb"])
        self.enter = self.places = self.retire = self.retired = 0
        self.lost, self.empty = ({"bad": 0, "front": 0, "back": 0} for _ in range(2))  # places, and whole cycles
        self.fetched = None
        self.ready, self.stored, self.guesses = {}, {}, {}
        self.ports = Ports(m["port_count"])
        self.executed = 0
        self.prefetches = m.get("prefetcher") == "next-line"

    def enter_at_least(self, cycle, cause="back"):
        if cycle > self.enter:
            self.lost[cause] += (cycle - self.enter) * self.width - self.places
            self.empty[cause] += cycle - self.enter - (1 if self.places else 0)
            self.enter, self.places = cycle, 0

    def take_place(self):
        if self.places == self.width:
            self.enter_at_least(self.enter + 1)
        self.places += 1
        return self.enter

    def fetch(self, address, size):
        for line in range(address // self.l1i.line, (address + size - 1) // self.l1i.line + 1):
            if line != self.fetched:
                self.fetched = line
                cost = 0 if self.itlb.access(line * self.l1i.line >> 12) else self.machine.m["itlb"]["walk"]
                cost += self.machine.reach(self.l1i, line) - self.l1i.latency
                self.enter_at_least(self.enter + cost, "front")

    def cost_of_data(self, address, size):
        cost = 0 if self.dtlb.access(address >> 12) else self.machine.m["dtlb"]["walk"]
        return cost + max(self.reach_data(line) for line in range(address // self.l1d.line, (address + size - 1) // self.l1d.line + 1))

    def reach_data(self, line):
        there = line in self.l1d.sets[line % len(self.l1d.sets)]
        cycles = self.machine.reach(self.l1d, line)
        if not there and self.prefetches:
            self.machine.prefetch(self.l1d, line + 1)
        return cycles

    def load(self, ready, address, size):
        start = max(ready, self.take_place())
        for eight in range(address >> 3, (address + size - 1 >> 3) + 1):
            start = max(start, self.stored.get(eight, 0))
        return self.ports.take(self.machine.work["load"], start) + self.cost_of_data(address, size)

    def store(self, ready, address, size):
        work = self.machine.work["store"]
        start = self.ports.take(work, max(ready, self.take_place()))
        self.cost_of_data(address, size)
        end = start + work[2]
        for eight in range(address >> 3, (address + size - 1 >> 3) + 1):
            self.stored[eight] = end
        return end

    def work_on(self, form, accesses, end):
        if form.no_work:
            return max(end, self.take_place())
        if form.moves_only and accesses:
            return end
        ready = end
        for _ in range(form.work[3]):
            start = max(ready, self.take_place())
            end = max(end, (self.ports.take(form.work, start) if form.work[0] else start) + form.work[2])
        return end

    def predict(self, pc, taken, end):
        at = pc % self.predictor["entries"]
        guess = self.guesses.get(at, 1)
        self.guesses[at] = min(guess + 1, 3) if taken else max(guess - 1, 0)
        if (guess >= 2) != taken:
            self.enter_at_least(end + self.predictor["penalty"], "bad")

    def pause(self, cycles):
        self.retire, self.retired = self.retire + cycles, 0
        self.enter_at_least(self.retire)

    def step(self, pc, address, size, form, waits, taken, accesses):
        """Execute an instruction.  The accesses are (is it a store, address, bytes)."""
        waits = waits or form.waits
        if waits:
            self.enter_at_least(self.retire)
        self.enter_at_least(self.retire - 65536)
        self.fetch(address, size)
        ready = self.enter
        if not form.idiom:
            for r in form.reads:
                ready = max(ready, self.ready.get(r, 0))
        end = ready
        for _, where, n in (a for a in accesses if not a[0]):
            end = max(end, self.load(ready, where, n))
        end = done = self.work_on(form, accesses, end)
        for r in form.writes:
            self.ready[r] = done
        for _, where, n in (a for a in accesses if a[0]):
            end = max(end, self.store(done, where, n))
        if end > self.retire:
            self.retire, self.retired = end, 1
        elif self.retired == self.width:
            self.retire, self.retired = self.retire + 1, 1
        else:
            self.retired += 1
        if form.conditional:
            self.predict(pc, taken, end)
        if waits:
            self.enter_at_least(self.retire)
        self.executed += 1
        if self.executed % 65536 == 0:
            self.ports.forget(self.enter)
        return self.retire


def read_accesses(words):
    return [(w[0] == "w", int(w[1:w.index("+")], 16), int(w[w.index("+") + 1:])) for w in words]


def compare(file, lines, count=None):
    """Give each instruction of a trace its cycle: instructions, differences, the first few of them, and distinct snippets."""
    machine, forms = Machine(file), {}
    done, wrong, shown, snippets, run = 0, 0, [], set(), []
    for line in lines:
        words = line.split()
        if words[0] == "form":
            forms[words[1]] = Form(line, machine)
            continue
        if done == count:
            break
        if words[0] == "pause":
            machine.cpu(int(words[1])).pause(int(words[2]))
            continue
        if words[0] == "slots":
            (bad, *lost), (_, *empty) = (list(totals.values()) for totals in (machine.cpu(int(words[1])).lost, machine.cpu(int(words[1])).empty))
            found = [bad, *lost, sum(lost), *empty, sum(empty)]
            if found != [int(w) for w in words[2:]]:
                wrong += 1
                shown = (shown + [f"instruction {done}: the reference says slots {found}: {line.strip()}"])[:SHOWN]
            continue
        if words[0] == "prefetch":
            machine.cpu(int(words[1])).prefetches = words[2] == "1" and file.get("prefetcher") == "next-line"
            continue
        waits, taken = "waits" in words, "taken" in words
        form = forms[words[4]]
        found = machine.cpu(int(words[0])).step(int(words[1], 16), int(words[2], 16), int(words[3]), form, waits, taken,
                                                read_accesses(words[5 + waits + taken:-2]))
        if found != int(words[-1]):
            wrong += 1
            shown = (shown + [f"instruction {done}, {form.name}: the reference says {found}: {line.strip()}"])[:SHOWN]
        done += 1
        run.append(words[4])
        if len(run) == SNIPPET:
            snippets.add(tuple(run))
            run = []
    return done, wrong, shown, len(snippets)


def main(machine, trace, count=None):
    with open(machine, encoding="ascii") as m, open(trace, encoding="ascii") as t:
        done, wrong, shown, snippets = compare(json.load(m), t, int(count) if count else None)
    print(f"{done} instructions, {snippets} distinct runs of {SNIPPET}: {wrong} differ", *shown, sep="\n")
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
