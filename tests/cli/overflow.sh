#!/bin/sh
# The boot proof finds how an overflow interrupts on arm64, to the instruction: by a helper PIC on the distribution's
# QEMU, which loses the interrupt otherwise, by itself on scripts/qemu-pmu's.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

line='pcbe: proof: inst_retired counts a loop exactly; overflow interrupt'
run() {
	scripts/barecpc run --arch arm64 --accel tcg "$@" -- spin
}

for cpu in max cortex-a72 cortex-a76; do
	expect "QEMU of the distribution, $cpu" 0 "$line comes by a helper PIC, at the instruction" run --cpu $cpu
done
expect 'the same from EL2, GICv2' 0 "$line comes by a helper PIC, at the instruction" \
	run --machine virtualization=on,gic-version=2

if scripts/qemu-pmu --built; then
	qemu=$(scripts/qemu-pmu --path arm64)
	for cpu in max cortex-a72 cortex-a76; do
		expect "mended QEMU, $cpu" 0 "$line comes by itself, at the instruction" run --qemu "$qemu" --cpu $cpu
	done
else
	skip 'mended QEMU' 'scripts/qemu-pmu --path arm64 would have to build it first'
fi
end
