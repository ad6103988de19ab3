"""Boot barecpc in QEMU, or read the console of a board.  Hand back what programs print, record and return."""

import functools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from host import lazy, options, terminal
from host.terminal import STANDARD_OUTPUT, pass_on, say, say_wrong

batch = lazy("host.batch")
boots = lazy("host.emulator.boots")
building = lazy("host.building")
clouds = lazy("host.console.clouds")
compare = lazy("host.results.compare")
console = lazy("host.console.console")
disk = lazy("host.disk")
exegesis = lazy("host.programs.exegesis")
export = lazy("host.results.export")
files = lazy("host.files")
guest = lazy("host.emulator.guest")
line = lazy("host.console.line")
machine_report = lazy("host.console.machine_report")
nb = lazy("host.programs.nb")
nested = lazy("host.emulator.nested")
outputs = lazy("host.console.outputs")
probe = lazy("host.emulator.probe")
program = lazy("host.programs.program")
progress = lazy("host.console.progress")
qemu = lazy("host.emulator.qemu")
qr = lazy("host.console.qr")
report = lazy("host.results.report")
sweep = lazy("host.results.sweep")
symbols = lazy("host.programs.symbols")
tools = lazy("host.programs.tools")
traceback = lazy("traceback")


@functools.cache
def proven_kvm(arch):
    if arch == qemu.HOST_ARCH and os.access(probe.DEV_KVM, os.R_OK | os.W_OK):
        building.build(arch, f"build/{arch}/probe")
    return probe.probe_kvm(arch)


def host_facts(args, accel):
    """Facts for the records, which the guest cannot see for itself."""
    emulated = accel != "kvm"
    facts = {"clock": "virtual" if emulated and not args.no_icount else "host"}
    if facts["clock"] == "virtual":
        facts["icount_shift"] = nested.ICOUNT_SHIFT if accel == probe.NESTED else qemu.icount_shift(args.arch, args.boot)
    facts["accel"] = accel
    if accel == probe.NESTED:
        facts["outer"] = nested.describe(args.arch, args.outer)
    if getattr(args, "planted", ""):
        facts["planted"] = qemu.describe_planted(args.planted)
    return facts


def command_line(args, accel):
    """The kernel's command line: our words, the caller's, the environment, and the program.

    With accel "auto" the machine is not ours, so nothing is known of it.
    """
    words = ["output=framed"]
    if accel != "auto":
        words += [qemu.quote(f"host.{name}={value}") for name, value in host_facts(args, accel).items()]
    if args.arch == "arm64" and accel not in ("auto", "kvm"):
        words.append("models=pmceid")
    words += args.append
    tmp = [name for name, _ in getattr(args, "out", []) if name.startswith(outputs.TMP)]
    if len(tmp) > 1:
        raise qemu.HostError(f"--out {tmp[1]}: one file of /tmp comes home: have the program join them, as tar does")
    words += [qemu.quote("out=" + name) for name in tmp]
    words += [qemu.quote("env." + pair) for pair in args.env]
    if args.program:
        words += ["--"] + [qemu.quote_program(word) for word in args.program]
    return " ".join(words)


def names_program(args):
    """Whether the kernel's command line names a program."""
    return bool(args.program) or any("--" in words.split() for words in args.append)


def only_program(payloads, programs):
    """The program to run if the payloads have no suite and the caller named none."""
    if len(programs) == 1:
        return programs[0]
    what = f"{len(programs)} programs" if programs else "no program and no `suite`"
    raise qemu.HostError(f"--payload {payloads[-1]}: {what}: name the program to run after --")


def image_of(args):
    """The image to boot: built now, or named by the caller."""
    if args.image:
        if not args.image.is_file():
            raise qemu.HostError(f"{args.image}: no such image")
        return args.image
    building.build(args.arch, "all")
    names = qemu.ARCHS[args.arch]
    image = qemu.build_file(args.arch, names.efi if args.boot == "uefi" else names.image)
    if not image.is_file():
        raise qemu.HostError(f"{image.relative_to(qemu.ROOT)}: no such image")
    return image


def device_tree(args):
    """The file of the device tree to boot with, or "": QEMU makes one."""
    board = qemu.board_of(args.machine)
    if args.dtb:
        return str(args.dtb)
    return qemu.device_tree(board.tree) if board else ""


def choose_arch(args, payloads):
    """The rule of all commands: --arch, else the architecture of the programs, else that of `barecpc arch`."""
    if args.arch is None:
        args.arch = program.arch_of_payloads(payloads) or probe.choose_arch(proven_kvm).arch


def run(args, log=say, subject="", explain=lambda _, why: say_wrong(why), takes_interrupt=False):
    """Boot and run.  log() gets each line of the log, explain() the status and its reason.  A tool runs the program `subject`.

    With `takes_interrupt` the tool ends by itself at Ctrl-C."""
    qemu.check_size(args.payload, args.mem)
    if args.boots > 1:
        return boots.run(args, sys.argv[2:])
    choose_arch(args, args.payload)
    emulator = args.qemu or qemu.default_emulator(args.arch, args.smp)
    choice = probe.choose_accel(args.arch, args.accel, proven_kvm, emulator)
    if choice.accel != "tcg":
        emulator = args.qemu or {"kvm": qemu.STOCK, probe.NESTED: qemu.PMU}[choice.accel]
    log(f"host: {choice.arch}, {choice.accel}: {choice.reason}")
    sandbox = qemu.sandbox(qemu.find_qemu(args.arch, emulator))
    if not sandbox:
        say("host: this QEMU has no sandbox (seccomp): a guest that breaks out of QEMU has your rights")
    image = image_of(args)
    machine = qemu.Machine(args.arch, choice.accel, args.smp, args.mem, args.cpu, args.machine, args.boot,
                           emulator, args.gdb, not args.no_icount, device_tree(args), args.planted)
    timeout, silence = args.timeout, args.silence
    board = args.machine.split(",")[0]
    follow = progress.Progress(lambda: progress.place_of_state(image, args.arch, board), not (args.quiet or args.gdb), timeout, subject)
    if args.gdb:
        timeout = silence = None
        say("host: waiting for `gdb -ex 'target remote :1234'`")
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        folder = pathlib.Path(name)
        initrd, programs, suite = qemu.gather(args.payload, folder)
        if args.payload and not suite and not names_program(args):
            args.program = [only_program(args.payload, programs)]
        volume = None
        if args.boot == "uefi":
            volume = folder / "disk.img"
            qemu.make_disk(volume, [image], command_line(args, choice.accel), initrd)
        words = command_line(args, choice.accel)
        if choice.accel == probe.NESTED:
            command = nested.command(machine, folder, image, words, initrd, args.load, args.outer, sandbox)
        else:
            command = qemu.command(machine, image, words, initrd, volume, sandbox)
        return finish(args, lambda screen: guest.run(command, screen, log, timeout, silence, follow, args.gdb, takes_interrupt),
                      lambda ending, screen: guest.judge(ending, screen, timeout, silence, follow, lambda pc: place(args, image, follow, pc),
                                                         " deadline=" in f" {words.split(' -- ')[0]}"),
                      log, explain)


def make_disk(args):
    """Make a disk for a cloud, with the image of each architecture that the payloads run on.

    keep=no: a cloud may clear memory at a reset, after which the job would run again.  deadline=: an hour there costs money."""
    disk.check(args.o, args.kind)
    qemu.check_size(args.payload, "4000M", "a FAT volume has files of {mem}: make more disks")
    arch = args.arch or program.arch_of_payloads(args.payload)
    building.build(arch, "all")
    archs = [arch] if arch else sorted(qemu.ARCHS)
    args.append = ["keep=no", "then=off", f"deadline={options.CLOUD_DEADLINE}", *args.append]
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        initrd, programs, suite = qemu.gather(args.payload, pathlib.Path(name))
        if args.payload and not suite and not names_program(args):
            args.program = [only_program(args.payload, programs)]
        images = [qemu.build_file(one, qemu.ARCHS[one].efi) for one in archs]
        mib = disk.write(args.o, args.kind, images, command_line(args, "auto"), initrd)
    say(f"host: {args.o}: {mib} MiB: boots {' and '.join(archs)} by UEFI")
    return 0


def run_sweep(args):
    if not args.cmdline:
        return sweep.main(args)
    made = parse(sweep.words_of(args))
    if made.accel != "auto":
        choose_arch(made, made.payload)
    print(command_line(made, made.accel))
    return 0


def place(args, image, follow, pc):
    """A PC as text, with the function of the kernel or of the program that runs, if its file is at hand."""
    name = follow.state.name if follow.state else ""
    own = program.bytes_of(name, args.payload)
    return symbols.place(pc, symbols.kernel_of(image), symbols.parse(own) if own else symbols.of_image(name, args.arch))


def microbenchmark(args):
    args.arch_chosen = args.arch is None
    if args.arch is None and "BARECPC_ARCH" not in os.environ:
        args.arch = nb.arch_by_code(args) or None
    choose_arch(args, [args.kernel] if args.kernel else [])
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        status = run(parse(nb.prepare(args, pathlib.Path(name))))
        if args.yaml is not None and status == 0:
            exegesis.write_yaml(args)
        return status


def tool(args):
    """Run the image's stat or record."""
    with tempfile.TemporaryDirectory(prefix="barecpc.") as name:
        words, subject = tools.prepare(args, pathlib.Path(name))
        log, made = tools.Log(say), parse(words)
        terminal.said = b""  # not what batch has passed on of other programs

        def explain(status, why):
            if status != guest.STATUS_NOTHING_COUNTED:  # stat and record have said it; or it is the program's status
                log.show()
                finish_record()
                say_wrong(why)

        def finish_record():
            nonlocal before
            if args.command == "stat" and tools.inode(args.results) != before:
                before = tools.inode(args.results)
                tools.finish_stat(args, made.arch, subject)
            if args.command == "record" and tools.inode(args.o) != before:
                before = tools.inode(args.o)
                tools.finish_record(args, made.arch, subject, say)

        before = tools.inode(args.o if args.command == "record" else args.results)
        try:
            status = run(made, log.line, subject.name, explain, takes_interrupt=True)
            for line in tools.absent(args, subject, terminal.said.decode(errors="replace")) if status not in (0, guest.STATUS_NOTHING_COUNTED, guest.STATUS_TIMEOUT, guest.STATUS_FAILED) else []:
                say(line)
            return status
        finally:
            finish_record()


def run_batch(args):
    """Run the lines of a file, in processes that find the modules loaded and KVM probed."""
    for module in (console, guest, nested, outputs, program, progress, qemu, symbols, tools, tools.profiles):
        module.__doc__  # loads it
    if os.access(probe.DEV_KVM, os.R_OK | os.W_OK):
        proven_kvm(qemu.HOST_ARCH)
    return batch.main(args, main)


def read(args):
    if args.qr:
        return read_pictures(args)
    def judge(why, screen):
        return line.judge(why, screen, args.source, args.timeout, args.silence)

    if args.follow:
        return finish(args, lambda screen: clouds.follow(args.source, screen, args.timeout, args.silence), judge)
    with line.opened(args.source, args.baud) as fd:
        return finish(args, lambda screen: line.listen(fd, screen, args.timeout, args.silence), judge)


def read_pictures(args):
    """The records on the pictures.  They do not have the status of the run."""
    lines = qr.read(args.qr, say)
    with outputs.Outputs(args.results) as out:
        for record in lines.splitlines():
            out.stream("json", record)
        out.unpack(None)
        out.complete = not out.fault
    out.write(args.out, args.folded, args.flamegraph, say)
    if out.fault:
        raise qemu.HostError(out.fault)
    if not args.results:
        pass_on(sys.stdout, lines)
    return 0


def finish(args, listen, judge, log=say, explain=lambda _, why: say_wrong(why)):
    """Feed a console by listen(), and write the files of the run.  Returns its status, by judge().  The last line is its reason."""
    with outputs.Outputs(args.results) as out:
        screen = console.Console(out.stream, log, lambda damage: say_wrong(f"host: {damage}"))
        ending = listen(screen)
        for missing in out.unpack(screen):
            say(f"host: {missing}")
        out.write(args.out, args.folded, args.flamegraph, say)
        status, why = judge(ending, screen)
        if out.fault and status in (guest.STATUS_FAILED, guest.STATUS_TIMEOUT):
            say_wrong(f"host: {out.fault}")
        elif out.fault:
            status, why = guest.STATUS_FAILED, out.fault
        out.complete = status == 0
    if why:
        explain(status, f"host: {why}")
    if getattr(ending, "interrupted", False):
        raise KeyboardInterrupt("the counts are those so far")
    return status


def arch(_):
    choice = probe.choose_arch(proven_kvm)
    say(f"host: {choice.arch}, {choice.accel}: {choice.reason}")
    print(choice.arch)
    return 0


def names(args):
    """Run one of the image's tools for names of events, built for this machine."""
    building.build("", "host-tools")
    tool = qemu.ROOT / "build" / "host" / args.command
    if not tool.is_file():
        raise qemu.HostError(f"{tool.relative_to(qemu.ROOT)}: not built; run make host-tools")
    words = [] if args.cpu is None else ["--cpu", args.cpu]
    if getattr(args, "cpus", False):
        words.append("--cpus")
    status = subprocess.run([tool, *words, *args.words]).returncode
    return status if status >= 0 else 128 - status


def probe_all(_):
    for name in sorted(qemu.ARCHS):
        known = proven_kvm(name)
        print(f"{name}: {known[2]}")
        choice = probe.choose_accel(name, "auto", lambda _, known=known: known, qemu.EMULATOR[name])
        print(f"{name}: auto is {choice.accel}, which {'counts' if choice.counts else 'cannot count'}")
    return 0


def end_output():
    """Standard output cannot be written: drop what waits for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

def parse(words):
    return options.parse(words, __doc__, COMMANDS)


# For each command: its purpose, how it adds its options, and what runs it.  Its modules are loaded then.
COMMANDS = {
    "arch": ("print the architecture that can count on this machine", lambda _: None, arch),
    "probe": ("print whether KVM works here, and the choice for each architecture", lambda _: None, probe_all),
    "encode": ("print the register values of events of a CPU", options.add_names, names),
    "list": ("print the events of a CPU", options.add_names, names),
    "fits": ("print on which PICs a CPU counts them together", options.add_names, names),
    "run": ("boot, run, power off; see run --help", options.add_run, run),
    "stat": ("count a program over its whole life, as perf stat does", lambda command: tools.add_stat(command), tool),
    "batch": ("count many programs, each as stat does", lambda command: batch.add_batch(command), run_batch),
    "record": ("profile a program, as perf record does", lambda command: tools.add_record(command), tool),
    "report": ("print where the samples of a profile are", lambda command: report.add_report(command), lambda args: report.main(args)),
    "annotate": ("print the instructions of a function with their samples", lambda command: report.add_annotate(command),
                 lambda args: report.annotate(args)),
    "compare": ("print which counts differ between two files of records", lambda command: compare.add_arguments(command),
                lambda args: compare.main(args)),
    "export": ("write records in the format of another program", lambda command: export.add_arguments(command), lambda args: export.main(args)),
    "nb": ("count the events of a few instructions, with nanoBench's options", options.add_nb, microbenchmark),
    "sweep": ("run a program with every combination of parameters; see sweep --help", lambda command: sweep.add_sweep(command), run_sweep),
    "collect": ("join the results of a sweep", lambda command: sweep.add_collect(command), lambda args: sweep.collect(args)),
    "disk": ("make a disk that a cloud imports, with the job in it", options.add_disk, make_disk),
    "read": ("read the console of a board, live or captured; see read --help", options.add_read, read),
    "report-machine": ("make the one file on a machine to send back", options.add_report_machine, lambda args: machine_report.main(args)),
}


def main(words=None):
    """Run the command of these words, by default of the command line.  Returns its status."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup(1)
            signal.signal(number, lambda caught, frame: sys.exit(128 + caught))
    args = None
    try:
        if sys.stdout is None:
            sys.stdout = open(os.devnull, "w")
            raise qemu.HostError("standard output: closed: give >/dev/null if you do not want it")
        args = parse(sys.argv[1:] if words is None else words)
        status = COMMANDS[args.command][2](args)
        with files.named(STANDARD_OUTPUT):
            sys.stdout.flush()
        return status
    except SystemExit:  # after --help or --version, or by a signal
        try:
            sys.stdout.flush()
        except OSError:
            end_output()
        raise
    except qemu.HostError as error:
        say_wrong(f"host: {error}")
    except KeyboardInterrupt as error:
        lost = "what the guest has counted is lost" if hasattr(args, "accel") else "its output is not complete"
        say(f"host: interrupted: {error if error.args else lost}")
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)  # by which a shell's loop ends, too
    except BrokenPipeError:
        end_output()  # its reader has ended
        if args is None:
            return 0  # --help
    except OSError as error:
        if error.filename in (None, STANDARD_OUTPUT):
            end_output()
        say_wrong(f"host: {error.filename or 'system'}: {error.strerror}")
    except Exception as error:  # one that no code expects
        if options.Debug.wanted:
            traceback.print_exc()
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = " ".join(f"{type(error).__name__}: {error}".split())[:console.MAX_QUOTED]
        say_wrong(f"host: internal error: {what} ({os.path.basename(place.filename)}:{place.lineno}): report it, with the "
                  "output of the same command with --debug")
    return guest.STATUS_FAILED
