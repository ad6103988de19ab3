"""A labgrid driver that takes the results of a run from any console, and switches the machine if its place has a power driver."""

import subprocess
import time

import attr
import pexpect
from labgrid import step, target_factory
from labgrid.driver import Driver


@target_factory.reg_driver
@attr.s(eq=False)
class BarecpcDriver(Driver):
    """Runs a point of a sweep (docs/machine.md).

    Args:
        place (str): the machine's name in the records
        barecpc (str): the program
        silence (int): seconds without a byte after which the machine is given up
    """

    bindings = {"console": "ConsoleProtocol", "power": {"PowerProtocol", None}}
    place = attr.ib(validator=attr.validators.instance_of(str))
    barecpc = attr.ib(default="barecpc", validator=attr.validators.instance_of(str))
    silence = attr.ib(default=120, validator=attr.validators.instance_of(int))

    @Driver.check_active
    @step(args=["description", "folder", "number"])
    def run_point(self, description, folder, number):
        """Start the machine, if it can be switched, and pass its console to `barecpc sweep --read`.  Returns 0 if the point ran."""
        reader = subprocess.Popen([self.barecpc, "sweep", description, "-o", folder, "--point", str(number), "--place", self.place,
                                   "--read", "-"], stdin=subprocess.PIPE)
        try:
            if self.power:
                self.power.cycle()
            self._pass_on(reader)
        finally:
            try:
                reader.stdin.close()
            except BrokenPipeError:
                pass
            status = reader.wait()
            if self.power:
                self.power.off()
        return status

    def _pass_on(self, reader):
        """Pass on bytes until the reader has read the closing line, the console ends, or is silent."""
        heard = time.monotonic()
        while reader.poll() is None and time.monotonic() < heard + self.silence:
            try:
                data = self.console.read(timeout=1)
            except pexpect.TIMEOUT:
                continue
            if not data:
                return
            heard = time.monotonic()
            try:
                reader.stdin.write(data)
                reader.stdin.flush()
            except BrokenPipeError:
                return
