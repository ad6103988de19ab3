#!/bin/sh
# A wrong device tree causes a line that says so.  The run ends, or continues without the wrong part.
#
# The test boots arm64 with changed copies of QEMU's trees.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

machine=virt,gic-version=3,dtb-randomness=off

# boot TREE: boot with this tree; the console goes to stderr.  A run that does not end is killed.
boot() {
	timeout -k 2 60 qemu-system-aarch64 -M $machine -accel tcg -cpu max -m 256 -smp 2 -display none -nodefaults \
		-serial stdio -no-reboot -dtb "$1" -kernel build/arm64/Image -append '-- nonesuch' </dev/null >"$tap_dir/line"
	tr -d '\r' <"$tap_dir/line" >&2
}

# change NODE PROPERTY CELLS...: change a fresh copy of the tree.
change() {
	cp "$tap_dir/virt.dtb" "$tap_dir/changed.dtb"
	fdtput -t x "$tap_dir/changed.dtb" "$@"
}

# goes_on NAME PATTERN: with the changed tree the kernel prints this line, and the run ends as usual.
goes_on() {
	expect "$1" 0 "$2" boot "$tap_dir/changed.dtb"
	check "$1: the run continues to its end" grep -q '^barecpc: exit 125$' "$err"
}

[ "${BARECPC_BUILD-}" = no ] || make -s ARCH=arm64 all >&2 || exit 1
qemu-system-aarch64 -M "$machine,dumpdtb=$tap_dir/big.dtb" -cpu max -m 256 -smp 2 -display none 2>"$tap_dir/err"
dtc -q -I dtb -O dtb -p 4096 -o "$tap_dir/virt.dtb" "$tap_dir/big.dtb"

change /pl011@9000000 reg 0 9500000 0 1000
goes_on 'a console at an empty address' \
	'^cpu: console: nothing answers at 0x9500000: correct the UART.s address in the device tree$'
change /pl011@9000000 reg 80000000 0 0 1000
goes_on 'a console at an address that cannot be mapped' '^cpu: console: nothing answers at 0x8000000000000000: '
change /pl011@9000000 reg 0 40000000 0 1000
goes_on 'a console in memory' '^cpu: device tree: the console.s UART at 0x40000000 is memory: it is not used$'
change /intc@8000000 '#interrupt-cells' 55555556
goes_on 'interrupts with 55555556H cells' '^cpu: device tree: no PPI for the virtual timer: 27 is used$'

change /intc@8000000 reg 0 9500000 0 10000 0 80a0000 0 f60000
expect 'an interrupt controller at an empty address' 0 \
	'^panic: cpu: nothing answers at 0x9500000, where the device tree has the GIC.s distributor: ' \
	boot "$tap_dir/changed.dtb"
change /intc@8000000 reg 0 7000000 0 10000 0 80a0000 0 f60000
expect 'an interrupt controller that is flash memory' 0 '^panic: cpu: no GIC of version 2 or 3 in the device tree' \
	boot "$tap_dir/changed.dtb"
change /intc@8000000 reg 0 8000000 0 10000 0 7000000 0 f60000
expect 'redistributors at an empty address' 0 '^panic: cpu: no working GIC redistributor for MPIDR ' \
	boot "$tap_dir/changed.dtb"
change /intc@8000000 reg 0 8000000 0 10000 0 40000000 0 f60000
expect 'redistributors that are memory' 0 '^panic: cpu: no working GIC redistributor for MPIDR ' \
	boot "$tap_dir/changed.dtb"
# The kernel reports CPUs that it does not use.
for arch in arm64 x86_64; do
	scripts/barecpc run --arch $arch --accel tcg --smp 4 --append cpus=2 -- spin >"$out" 2>"$err" </dev/null
	check "$arch: CPUs beyond cpus= are reported" grep -q '^cpu: 2 of 4 CPUs used: ' "$err"
done

end
