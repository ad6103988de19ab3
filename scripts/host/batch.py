"""`barecpc batch`: count many programs, each in a machine of its own.

One process of Python serves all: it forks for each line, so no line loads modules or probes KVM again.
"""

import argparse
import contextlib
import os
import pathlib
import shlex
import signal
import sys
import tempfile

from host import files
from host.emulator import qemu
from host.programs import tools
from host.terminal import pass_on, say, say_wrong

MOST = 10000  # lines

HELP = """
file:
  a line for each program: options and words of `barecpc stat`, quoted as for a
  shell; # begins a comment; - reads standard input
      -e PAPI_tot_ins:u ./primes 10000

Each program runs in a machine that boots for it, so its records are those of
`barecpc stat`.  Output and counts come in the order of the lines.

status:
  0, or the first status of a line that is not 0; standard error names each
"""


def add_batch(parser):
    parser.usage, parser.epilog = "barecpc batch [options] FILE", HELP
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", metavar="FILE", help="the lines")
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="machines at a time (one for each CPU)")
    parser.add_argument("--results", metavar="FILE", help="write the records of all lines to FILE, each as a line of JSON")


def words_of(line):
    """The words of a line, up to a comment, which begins at a word's start as in a shell: shlex cuts a#b."""
    lexer, words = shlex.shlex(line, posix=True), []
    lexer.whitespace_split, lexer.commenters = True, ""
    while not line[lexer.instream.tell():].lstrip().startswith("#") and (word := lexer.get_token()) is not None:
        words.append(word)
    return words


class Reader(argparse.ArgumentParser):
    """Reads the options of a line.  Its stat says what is wrong with them."""

    def error(self, message):
        raise argparse.ArgumentError(None, message)


def lines_of(name):
    """The words of each line, by its number.  Raises HostError for one that cannot be read."""
    with files.named(name), open(0 if name == "-" else name, errors="surrogateescape", closefd=name != "-") as file:
        text = file.read()
    parser = Reader(add_help=False, exit_on_error=False)
    tools.add_stat(parser)
    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        try:
            words = words_of(line)
        except ValueError as error:
            raise qemu.HostError(f"{name}:{number}: {error}: quote as for a shell") from None
        with contextlib.suppress(argparse.ArgumentError):
            if parser.parse_known_args(words)[0].results:
                raise qemu.HostError(f"{name}:{number}: --results: give it to batch, for the records of all lines")
        if words:
            found[number] = words
    if not 0 < len(found) <= MOST:
        raise qemu.HostError(f"{name}: {len(found)} programs: give 1 to {MOST} lines")
    return found


def begin(words, place, command):
    """Start a line.  Its output goes to files whose names begin with `place`.  Returns its process."""
    child = os.fork()
    if child:
        return child
    status = 125
    try:
        for fd, ending in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(f"{place}.{ending}", os.O_WRONLY | os.O_CREAT), fd)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = command(["stat", f"--results={place}.records", *words])
    except SystemExit as error:  # of a wrong option
        status = error.code
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(status)


def end(number, status, name, place, records):
    """Pass on what an ended line printed, and its records."""
    for stream, ending in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        pass_on(stream, pathlib.Path(f"{place}.{ending}").read_bytes())
    path = pathlib.Path(f"{place}.records")
    if path.exists():
        records.append(path.read_bytes())
    if status:
        say_wrong(f"host: {name}:{number}: status {status}")


def main(args, command):
    """Run the lines of args.file, each by command(), which takes the words of a command and returns its status."""
    if args.j < 1:
        raise qemu.HostError(f"-j {args.j}: give at least 1")
    lines, records, running, ended, first = lines_of(args.file), [], {}, {}, 0
    waiting, shown = list(lines), list(lines)
    with tempfile.TemporaryDirectory(prefix="barecpc.") as folder:
        try:
            while shown:
                while waiting and len(running) < args.j:
                    number = waiting.pop(0)
                    running[begin(lines[number], f"{folder}/{number}", command)] = number
                child, status = os.wait()
                status = os.waitstatus_to_exitcode(status)
                ended[running.pop(child)] = status if status >= 0 else 128 - status
                while shown and shown[0] in ended:
                    number = shown.pop(0)
                    end(number, ended[number], args.file, f"{folder}/{number}", records)
                    first = first or ended[number]
        finally:
            for child in running:  # at a signal: a machine ends with its command
                os.kill(child, signal.SIGTERM)
            for child in running:
                os.waitpid(child, 0)
            if args.results and (records or not shown):
                files.replace(args.results, b"".join(records))
    say(f"host: {args.file}: {len(lines)} programs, {sum(map(bool, ended.values()))} failed")
    return first
