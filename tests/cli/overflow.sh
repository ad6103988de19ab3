#!/bin/sh
# The boot proof finds how an overflow interrupts on arm64, to the instruction: by a helper PIC on the distribution's
# QEMU, which loses the interrupt otherwise, by itself on scripts/qemu-pmu's.  And then it does come there.
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

# positions ARCH NAME options...: after how many instructions an overflow stops a program at the kernel's privilege.
# The tests of the image do it at user privilege, on every one of these machines.
positions() {
	arch=$1
	shift
	expect "positions, $arch $*" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg "$@" \
		--append priv=system --payload "build/$arch/tests.cpio" -- cpc_position
	check "positions, $arch $*: none is wrong" sh -c "grep -q '^ok 1' '$out' && ! grep '^not ok' '$out'"
}
positions arm64 --qemu stock
if scripts/qemu-pmu --built; then
	positions arm64 --qemu pmu --smp 2
	for model in intel-v1 intel-v2 intel-v3 intel-v4 intel-v5 amd-legacy amd-core amd-v2; do
		positions x86_64 --qemu pmu --cpu $model
	done
else
	skip 'positions, x86-64' 'scripts/qemu-pmu --path x86_64 would have to build it first'
fi
end
