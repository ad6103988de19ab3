"""`barecpc report` and `barecpc annotate`: where the samples of a profile are (docs/stat.md)."""

import argparse
import collections
import re
import sys

from host.emulator.qemu import HostError
from host.programs.linked import PREFIX
from host.results import profiles, records
from host.results.records import DATA

COMMAND = 16  # columns of a program's name


def _symbol(sample):
    return f"[{'k' if sample.frames[0].kernel else '.'}] {sample.frames[0].symbol}"


def _line(sample):
    frame = sample.frames[0]
    return frame.line or f"{_symbol(sample)} at {frame.address:#x}"


def _caller(sample):
    callers = [frame.symbol for frame in sample.frames[1:2]]
    return f"{_symbol(sample)}  <- {callers[0] if callers else '[no caller]'}"


def _thread(sample):
    return f"{sample.program}-{sample.tid}"


KEYS = {"symbol": ("Symbol", _symbol), "line": ("Source line", _line), "caller": ("Symbol  <- caller", _caller),
        "thread": ("Thread", _thread), "program": ("Program", lambda sample: sample.program)}


def add_report(parser):
    _add_file(parser)
    parser.add_argument("--sort", choices=list(KEYS), default="symbol", help="a row for each symbol (the default), line, caller, "
                        "thread or program")
    parser.add_argument("--children", action="store_true", help="with --sort symbol: also count a sample for each caller")


def add_annotate(parser):
    _add_file(parser)
    parser.add_argument("symbol", nargs="?", metavar="SYMBOL", help="the function (the one with the most samples)")


def _add_file(parser):
    parser.add_argument("-i", dest="input", default=DATA, metavar="FILE", help=f"the profile ({DATA})")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def main(args):
    data = profiles.Profile(args.input)
    title, key = KEYS[args.sort]
    if args.children and args.sort != "symbol":
        raise HostError(f"--children: only with --sort symbol, not {args.sort}")
    rows = collections.Counter()
    for sample in data.samples:
        if args.children:
            rows.update({(sample.program, f"[{'k' if f.kernel else '.'}] {f.symbol}") for f in sample.frames})
        else:
            rows[sample.program, key(sample)] += 1
    print(f"# {data.title()}\n# Overhead    Samples  {'Command':{COMMAND}}  {title}")
    for (program, text), count in sorted(rows.items(), key=lambda row: (-row[1], row[0])):
        print(f"{100 * count / len(data.samples):9.2f}%  {count:9}  {program:{COMMAND}}  {text}")
    return 0


def annotate(args):
    data = profiles.Profile(args.input)
    hits = collections.Counter()  # by program, symbol and address
    for sample in data.samples:
        frame = sample.frames[0]
        if not frame.kernel and frame.program in data.symbols and (args.symbol or not frame.symbol.startswith(profiles.UNKNOWN)) and args.symbol in (None, frame.symbol):
            hits[frame.program, frame.symbol, frame.address] += 1
    totals = collections.Counter()
    for (program, symbol, _), count in hits.items():
        totals[program, symbol] += count
    if not totals:
        raise HostError(f"{args.symbol or args.input}: no sample is there: see barecpc report")
    program, symbol = min(totals, key=lambda key: (-totals[key], key))
    of = {address: count for (p, s, address), count in hits.items() if (p, s) == (program, symbol)}
    path = data.files[program]["path"]
    low, high = _range(path, data.arch, symbol, min(of))
    print(f"# {data.title()}\n# {symbol} of {program} ({path}): {totals[program, symbol]} samples, "
          f"{100 * totals[program, symbol] / len(data.samples):.2f}% of all")
    # A sample is at the instruction before which the interrupt came.
    machine = data.head.get("machine")
    if isinstance(machine, dict) and isinstance(machine.get("overflow_proof"), str):
        print(f"# the overflow interrupt {records.clean(machine['overflow_proof'])}, by the proof at boot")
    text = profiles.run([PREFIX[data.arch] + "objdump", "-d", "-S", "-l", "-C", "--no-show-raw-insn", f"--start-address={low:#x}",
                        f"--stop-address={high:#x}", path])
    for line in text[text.find("\n0"):].strip("\n").splitlines():
        match = re.match(r"\s*([0-9a-f]+):\t", line)
        count = of.get(int(match[1], 16), 0) if match else 0
        share = f"{100 * count / totals[program, symbol]:8.2f}" if count else 8 * " "
        sys.stdout.write(f"{share} | {line}\n")
    return 0


def _range(path, arch, symbol, address):
    """The addresses of the function with this name that holds the address."""
    if found := [(low, high) for low, high in profiles.functions(path, arch) if low <= address < high]:
        return min(found)
    raise HostError(f"{symbol}: {path} does not say where it ends")
