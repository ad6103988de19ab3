"""Finds the files of a Linux program: its interpreter, its loader, its libraries, as the kernel and the loader find them.

ld.so(8), "DESCRIPTION": the folders of RPATH or LD_LIBRARY_PATH and RUNPATH, then those of ld.so.conf, then its own.  In each
the folders of glibc-hwcaps/ come first; all of their libraries are taken, because the guest's loader chooses by the CPU.
"""

import contextlib
import glob
import os
import pathlib
import re

from host import cpio
from host.emulator.qemu import HostError
from host.programs.objfile import BadObject, dynamic
from host.programs.program import ELF, arch_of

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
EXECVP_PATH = "/bin:/usr/bin"  # where env(1) of glibc looks in a guest that has no PATH
TRIPLETS = {"x86_64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
KERNELS = ("tmp", "dev", "proc", "sys")  # folders whose files the kernel makes
MOST_LINKS = 40  # as Linux has it


def is_program(file):
    """Whether a file is a program, a library or a script."""
    with open(file, "rb") as opened:
        return opened.read(4).startswith((ELF, b"#!"))


def is_static(data):
    """Whether a program needs no other file to start.  The kernel says what is wrong with a damaged one."""
    with contextlib.suppress(BadObject):
        return not data.startswith(b"#!") and not dynamic(data)[0]
    return True


def arch_of_program(root, file, depth=0):
    """The architecture of a program, or of what interprets a script."""
    with open(file, "rb") as opened:
        start = opened.read(256)
    words = start[2:].split(b"\n")[0].decode(errors="replace").split()
    if start.startswith(b"#!") and words and depth < 4:
        interpreter = root.file(words[0])
        return arch_of_program(root, interpreter, depth + 1) if interpreter else ""
    return arch_of(start)


def check_place(path):
    if (top := path.split("/")[1]) in KERNELS:
        raise HostError(f"{path}: the guest's own /{top} hides it: move it to another folder, or name it by a path from this one")


class Root:
    """The files that a guest sees: those of this machine, or of a folder that is another system's root."""

    def __init__(self, sysroot=None):
        self.top = os.path.realpath(sysroot) if sysroot else ""
        if sysroot and not os.path.isdir(self.top):
            raise HostError(f"--sysroot {sysroot}: no such folder")

    def real(self, path, passed=None):
        """The path without links, whose targets stay inside; they are added to `passed`.  Unpacked packages may lack /lib -> usr/lib."""
        parts, done, links = path.split("/")[::-1], "", 0
        while parts:
            part = parts.pop()
            at = os.path.normpath(f"{done}/{part}")
            missing = not done and re.fullmatch("s?bin|lib(64)?", part) and not os.path.lexists(self.top + at)
            if links < MOST_LINKS and (missing or os.path.islink(self.top + at)):
                links += 1
                target = f"usr{at}" if missing else os.readlink(self.top + at)
                if passed is not None:
                    passed[at.lstrip("/")] = cpio.Link(os.fsencode(target))
                done = "" if target.startswith("/") else done
                parts += target.split("/")[::-1]
            else:
                done = at.rstrip("/")
        return done or "/"

    def file(self, path):
        """The file of this machine at a path of the guest, or None.  After too many links there is no file: this machine would follow them out."""
        file = pathlib.Path(self.top + self.real(path))
        return file if file.is_file() and not (self.top and os.path.realpath(file) != str(file)) else None

    def program(self, word, folders=""):
        """The path of a command as a shell finds it, or None."""
        folders = folders or (PATH if self.top else os.environ.get("PATH", PATH))
        paths = (os.path.join(os.path.abspath(folder), word) for folder in folders.split(":") if folder)
        return next((path for path in paths if (file := self.file(path)) and os.access(file, os.X_OK)), None)

    def configured(self, name="/etc/ld.so.conf", seen=None):
        """The folders that ld.so.conf(5) lists."""
        seen, file = set() if seen is None else seen, self.file(name)
        if not file or file in seen:
            return
        seen.add(file)
        for words in map(str.split, file.read_text(errors="replace").splitlines()):
            if words[:1] == ["include"]:
                folder, pattern = os.path.split(os.path.join(os.path.dirname(name), words[-1]))
                for found in sorted(glob.glob(glob.escape(self.top + self.real(folder)) + "/" + pattern)):
                    yield from self.configured(f"{folder}/{os.path.basename(found)}", seen)
            elif words and words[0].startswith("/"):
                yield words[0].rstrip("/")


class Packed:
    """The files for a guest: `files` has the file of this machine for each path of the guest, without its first slash; `links` its links."""

    def __init__(self, root, arch, env=()):
        self.root, self.arch, self.files, self.links = root, arch, {}, {}
        triplet = TRIPLETS[arch]
        self._own = [f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        env = dict(pair.partition("=")[::2] for pair in env)
        self._library_path, self._path = env.get("LD_LIBRARY_PATH", ""), env.get("PATH", EXECVP_PATH)
        self._configured = list(root.configured())

    def add(self, path, file, chain=()):
        """Add a file, and what it needs.  `chain` has the path, the place and the RPATH of each object that leads to it."""
        check_place(path)
        place = self.root.real(path, self.links).lstrip("/")
        if place in self.files:
            return
        self.files[place] = file
        with open(file, "rb") as opened:
            start = opened.read(256)
        if start.startswith(b"#!"):
            self._interpreter(path, start[2:].split(b"\n")[0].decode(errors="replace").split())
        elif start.startswith(ELF) and arch_of(start) == self.arch:
            self._needs(path, file, chain)

    def _interpreter(self, path, words):
        if not words:
            return
        self._named(words[0], path, "interpreter")
        if os.path.basename(words[0]) == "env":
            command = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
            if "/" not in command and not self.root.program(command, self._path):
                raise HostError(f"{path}: its interpreter {command} is not in {self._path}: give the folder by --env PATH=FOLDER:...")
            if "/" not in command or self.root.file(command):
                self._named(self.root.program(command, self._path) or command, path, "interpreter")

    def _named(self, name, path, what):
        file = self.root.file(name)
        if not file:
            raise HostError(f"{path}: its {what} {name} is not in {self.root.top or 'this system'}: give --sysroot DIR that has it, or link with -static")
        self.add(name, file)

    def _needs(self, path, file, chain):
        try:
            data = file.read_bytes()
            interpreter, needed, rpath, runpath = dynamic(data)
        except BadObject as error:
            raise HostError(f"{file}: {error}") from None
        if interpreter:
            self._named(interpreter, path, "loader")
            if not chain and re.search(rb"/bin/sh\0|\0(system|popen)\0", data) and (shell := self.root.file("/bin/sh")):
                self.add("/bin/sh", shell)
            # Linux and glibc take $ORIGIN of a program from its path without links.
            path, file = self.root.real(path), os.path.realpath(file)
        here = (path, str(file), [] if runpath else rpath)
        for name in needed:
            if name != "libc.so" and not name.startswith("libc.musl-"):  # musl's loader is its libc
                self._library(name, (here, *chain), runpath)

    def _library(self, name, chain, runpath):
        """Find a library, in a folder of the guest."""
        if "/" in name:
            self._named(name, chain[0][0], "library")
            return
        folders = [] if runpath else [(folder, where) for where in chain for folder in where[2]]
        folders += [(folder, chain[0]) for folder in [*self._library_path.split(":"), *runpath] if folder]
        for folder, (path, file, _) in folders:
            folder = folder.replace("${", "$").replace("}", "").replace("$LIB", "lib/" + TRIPLETS[self.arch])
            if folder.startswith("$ORIGIN"):  # where the program is in the guest, and where it is here
                rest = folder[len("$ORIGIN"):]
                place = os.path.normpath("/" + os.path.dirname(path) + rest).replace("//", "/")
                inside = str(self.root.file(path)) == os.path.realpath(file)
                here = self.root.file(f"{place}/{name}") if inside else pathlib.Path(os.path.normpath(os.path.dirname(file) + rest)) / name
                if here and here.is_file() and self._is_ours(here):
                    self.add(f"{place}/{name}", here, chain)
                    return
            elif self._take(folder, name, chain):
                return
        for folder in [*self._configured, *self._own]:
            # The guest has no ld.so.cache: what only ld.so.conf names goes where the loader looks.
            if self._take(folder, name, chain, None if folder in self._own else self._own[0]):
                return
        raise HostError(f"{chain[0][0]}: its library {name} is not in {self.root.top or 'this system'}: install it, or give --sysroot DIR that has it")

    def _take(self, folder, name, chain, place=None):
        """Add all kinds of a library that a folder has for this architecture.  Returns false without any."""
        top = pathlib.Path(self.root.top + self.root.real(folder))
        kinds = [str(kind)[len(str(top)):] for kind in sorted(top.glob(f"glibc-hwcaps/*/{glob.escape(name)}"))]
        found = False
        for kind in [*kinds, f"/{name}"]:
            file = self.root.file(folder + kind)
            if file and self._is_ours(file):
                found = True
                self.add((place or folder) + kind, file, chain)
        return found

    def _is_ours(self, file):
        with open(file, "rb") as opened:
            return arch_of(opened.read(64)) == self.arch

    def add_word(self, word):
        """Add what --with names: a file, a folder with all files below it, or a command."""
        name = os.path.normpath("/" + word.lstrip("/")) if not os.path.normpath(word).startswith("..") else os.path.abspath(word)
        here = pathlib.Path(self.root.top + self.root.real(word))
        inside = word.startswith("/") and here.exists()
        if not inside:
            here = pathlib.Path(word)
        if "/" not in word and not here.exists():
            name = self.root.program(word) or name
            here = self.root.file(name) or here
        if not here.exists():
            raise HostError(f"--with {word}: no such file, folder or command")
        check_place(name)
        for file in sorted(here.rglob("*")) if here.is_dir() else [here]:
            below = file.relative_to(here)
            file = self.root.file(f"{word}/{below}") if inside else file
            if file and file.is_file():
                with contextlib.suppress(HostError) if here.is_dir() else contextlib.nullcontext():  # not all in a folder runs
                    self.add(os.path.normpath(os.path.join(name, below)), file)
