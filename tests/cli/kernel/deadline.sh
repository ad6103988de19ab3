#!/bin/sh
# deadline= ends the run by power-off: a program that never ends, a panic, a UART that stays full, a lost CPU.
# Seconds are those of the guest's clock, which here is that of the host.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# QEMU with isa-debug-exit at a port that the kernel does not know: only QEMU's reason tells a power-off from a reset.  With
# FULL its standard output is a full pipe that no one reads.
cat >"$tap_dir/qemu" <<'END'
#!/usr/bin/env python3
import os, sys
if "FULL" in os.environ:
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, bytes(1))
    except BlockingIOError:
        os.set_blocking(write, True)
    os.dup2(write, 1)
    os.set_inheritable(read, True)
os.execvp("qemu-system-x86_64", ["qemu"] + [word.replace("iobase=0xf4", "iobase=0xe4") for word in sys.argv[1:]])
END
chmod +x "$tap_dir/qemu"

echo 'int main(void) { for (volatile int turns = 0;; turns++) ; }' >"$tap_dir/forever.c"

for arch in arm64 x86_64; do
	case $arch in
	arm64) # The registers of a clock (PL031): where this UART would say that it has room, they have 0.
		qemu=qemu-system-aarch64 word=uart=lpuart,0x9010000
		;;
	*)
		qemu=$tap_dir/qemu word=
		;;
	esac
	scripts/barecpc-cc --arch $arch -O2 -o "$tap_dir/forever" "$tap_dir/forever.c"
	scripts/barecpc-cc --arch $arch -o "$tap_dir/masked" tests/cli/programs/masked_$arch.S

	run() {
		scripts/barecpc run --arch "$arch" --accel tcg --no-icount --smp 2 --timeout 300 --qemu "$qemu" "$@"
	}
	full() {
		FULL=yes run "$@"
	}

	expect "$arch: a program that never ends" 124 '^barecpc: deadline=3: the run took longer and is ended: ' \
		run --payload "$tap_dir/forever" --append deadline=3
	expect "$arch: an end in time" 0 '^barecpc: exit 0$' run --append deadline=1000 -- spin --help
	expect "$arch: a program with such an argument fails" 2 'not a number: "deadline=5"' run -- spin -r deadline=5
	expect "$arch: a panic" 125 '^panic: stack of smash_stack was smashed' \
		run --append 'checks=smash deadline=1000' -- spin --help
	check 'it powers off' sh -c "! grep '^host: the guest' '$err'"
	expect "$arch: a lost CPU" 124 '^barecpc: deadline=3: ' \
		run --payload "$tap_dir/masked" --append 'priv=system deadline=3'
	expect "$arch: a UART that stays full" 125 '^host: the guest was powered off before its closing line' \
		full --payload "$tap_dir/forever" --append "deadline=3 $word"
done
expect 'a mistake is reported' 125 '^barecpc: command line: .deadline=soon.: not a number of seconds' \
	scripts/barecpc run --arch arm64 --accel tcg --append deadline=soon -- spin --help
end
