"""Standard error: messages, and at a terminal one progress line that is rewritten, and red for what is wrong.

Nothing of that reaches a pipe or a file.  no-color.org: "NO_COLOR".
"""

import os
import sys

from host.files import named

STANDARD_OUTPUT = "standard output"  # in messages
RED, PLAIN, ERASE = "\x1b[31m", "\x1b[0m", "\r\x1b[K"
MOST_SAID = 64 << 10

said = b""  # the last that programs wrote to their standard error
_drawn = False  # the progress line is shown
_at_start = True  # the terminal's cursor is at the start of a line


def interactive():
    """Whether standard error is a terminal that can move its cursor."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def say(text):
    """Print a line."""
    global _at_start
    sys.stdout.flush()
    erase()
    print(text, file=sys.stderr, flush=True)
    _at_start = True


def printable(text):
    """The text, with a replacement character for each character that cannot be printed: it may come from a guest."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def say_wrong(text):
    """Print a line on what is wrong, in red if the terminal's user has nothing against it."""
    text = printable(text)
    coloured = interactive() and not os.environ.get("NO_COLOR")
    say(f"{RED}{text}{PLAIN}" if coloured else text)


def pass_on(out, data):
    """Write what a program wrote to its standard output or standard error."""
    global _at_start, said
    erase()
    said = (said + data)[-MOST_SAID:] if out is sys.stderr else said
    with named(STANDARD_OUTPUT if out is sys.stdout else "standard error"):
        out.buffer.write(data)
        out.flush()
    if data and out.isatty():
        _at_start = data.endswith(b"\n")


def draw(text):
    """Show the progress line.  It waits while a program's output ends within a line."""
    global _drawn
    if not _at_start:
        return
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    sys.stderr.write(ERASE + text[:columns - 1])
    sys.stderr.flush()
    _drawn = True


def erase():
    """Remove the progress line, if it is shown."""
    global _drawn
    if _drawn:
        sys.stderr.write(ERASE)
        sys.stderr.flush()
    _drawn = False
