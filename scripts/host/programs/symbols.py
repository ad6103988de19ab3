"""Names the functions of the kernel and of programs at addresses, by the symbols of their ELF files."""

from host.programs.objfile import BadObject, ObjectFile
from host.results import profiles

KERNEL = 0xffffffff80000000  # where the kernel is linked, and what is above


def parse(data):
    """The ELF file with these bytes, or None."""
    try:
        return ObjectFile(data)
    except BadObject:
        return None


def read(path):
    """The ELF file of a path, or None."""
    try:
        return parse(path.read_bytes())
    except OSError:
        return None


def kernel_of(image):
    return read(image.parent / "kernel.elf")


def place(address, kernel, program):
    """The address as text, with the function of the kernel or the program, and the offset in it.  Either file may be None."""
    file = kernel if address >= KERNEL else program
    name, start = file.place(address) if file else ("", 0)
    return f"{address:#x} ({name}+{address - start:#x})" if name else f"{address:#x}"


def of_image(name, arch):
    """The file with the symbols of a program of the image, or None."""
    path = name and profiles.of_image(name, arch)
    return read(path) if path else None
