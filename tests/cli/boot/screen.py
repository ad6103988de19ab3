#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The console's text is also on the screen.  The font identifies the characters in a screen dump."""

import json
import pathlib
import re
import socket
import subprocess
import tempfile
import threading

import tap

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIRMWARE_SECONDS = 280  # of elapsed time, for a machine that hangs
WIDTH, HEIGHT = 8, 16

MACHINES = {
    "arm64": ["qemu-system-aarch64", "-M", "virt,gic-version=3", "-bios", "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd",
              "-device", "ramfb", "-kernel", str(ROOT / "build/arm64/BOOTAA64.EFI")],
    "x86_64": ["qemu-system-x86_64", "-M", "q35", "-bios", "/usr/share/ovmf/OVMF.fd",
               "-device", "VGA", "-kernel", str(ROOT / "build/x86_64/BOOTX64.EFI")],
}


def read_font():
    """A dictionary from the rows of a glyph to its character."""
    source = (ROOT / "lib" / "font.c").read_text()
    glyphs = re.findall(r'^\t"((?:\\x[0-9a-f]{2}){16})"', source, re.MULTILINE)
    return {bytes.fromhex(rows.replace("\\x", "")): chr(0x20 + i) for i, rows in enumerate(glyphs)}


def read_text(ppm, font):
    """The lines of a screen, from a dump in PPM."""
    magic, width, height, _, pixels = re.match(rb"(P6)\s+(\d+)\s+(\d+)\s+(\d+)\s(.*)", ppm, re.DOTALL).groups()
    width, height = int(width), int(height)
    assert magic == b"P6" and len(pixels) == width * height * 3
    lit = [pixels[i] != 0 for i in range(0, len(pixels), 3)]
    lines = []
    for top in range(0, height - HEIGHT + 1, HEIGHT):
        line = ""
        for left in range(0, width - WIDTH + 1, WIDTH):
            rows = bytes(sum(0x80 >> x for x in range(WIDTH) if lit[(top + y) * width + left + x])
                         for y in range(HEIGHT))
            line += font.get(rows, "\N{REPLACEMENT CHARACTER}")
        lines.append(line.rstrip())
    return lines


def ask(stream, command, **arguments):
    """Send a command of QEMU's machine protocol, and return the answer."""
    stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    stream.flush()
    while True:
        answer = json.loads(stream.readline())
        if "return" in answer or "error" in answer:
            return answer


def dump(arch, folder):
    """Boot to the closing line.  Returns the lines of the console, and a screen dump, or None."""
    control, image = folder / f"{arch}.sock", folder / f"{arch}.ppm"
    words = [*MACHINES[arch], "-append", "-- nonesuch", "-accel", "tcg", "-cpu", "max", "-m", "256", "-nodefaults",
             "-display", "none", "-serial", "stdio", "-no-reboot", "-qmp", f"unix:{control},server=on,wait=off"]
    guest = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    watch = threading.Timer(FIRMWARE_SECONDS, guest.kill)
    watch.start()
    try:
        # The screen stays for a minute, because this boot has no channel for the status.
        said = []
        for line in guest.stdout:
            said.append(line.decode(errors="replace").strip())
            if "barecpc: exit" in said[-1]:
                break
        else:
            return said, None
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(control))
            stream = s.makefile("rw")
            stream.readline()
            ask(stream, "qmp_capabilities")
            ask(stream, "screendump", filename=str(image))
        return said, image.read_bytes()
    finally:
        watch.cancel()
        guest.kill()
        guest.wait()


def main():
    font = read_font()
    wanted = [r"barecpc: {arch}, version [0-9.]+", r"cons: screen \d+x\d+, \d+x\d+ characters", r"barecpc: nonesuch: .*",
              r"barecpc: exit 125"]
    for arch in MACHINES:
        with tempfile.TemporaryDirectory() as name:
            said, ppm = dump(arch, pathlib.Path(name))
        lines = read_text(ppm, font) if ppm else ["no closing line came"]
        points = [(f"the screen shows {pattern}", any(re.fullmatch(pattern, line) for line in lines))
                  for pattern in (pattern.format(arch=arch) for pattern in wanted)]
        # A line that is longer than the screen is wide goes on in the next one.
        pmu, whole = ["".join(line.split()) for line in said if line.startswith("pcbe: ")], "".join("".join(lines).split())
        points.append(("the lines about the PMU are whole", pmu and all(line in whole for line in pmu)))
        for what, good in points:
            tap.check(f"{arch}: {what}", [] if good else [line for line in lines if line] or ["the screen is empty"])
    tap.end()


if __name__ == "__main__":
    main()
