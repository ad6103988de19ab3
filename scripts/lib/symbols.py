"""Names the functions of the kernel at addresses, by the symbols of its ELF file."""

import bisect
import functools
import subprocess

KERNEL = 0xffffffff80000000  # where the kernel is linked, and what is above


@functools.cache
def _functions(elf):
    """The sorted addresses of the functions in the file, and their names.  Nothing if nm cannot read it."""
    try:
        lines = subprocess.run(["nm", "-n", "--defined-only", elf], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return [], []
    symbols = [line.split() for line in lines.splitlines()]
    symbols = [(int(address, 16), name) for address, kind, name in symbols
               if name == "__text_end" or kind in "tTwW" and not name.startswith("$")]
    return [address for address, _ in symbols], [name for _, name in symbols]


def place(address, image):
    """The address as text, with the function's name and the offset in it if it is one of this image's kernel."""
    text = f"{address:#x}"
    if address < KERNEL:
        return text
    addresses, names = _functions(image.parent / "kernel.elf")
    at = bisect.bisect_right(addresses, address) - 1
    if at < 0 or names[at] == "__text_end":
        return text
    return f"{text} ({names[at]}+{address - addresses[at]:#x})"
