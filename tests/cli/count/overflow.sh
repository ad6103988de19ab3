#!/bin/sh
# The boot proof finds out how an overflow interrupts on arm64, to the instruction.
# The distribution's QEMU loses the interrupt, so a helper PIC is needed.  The QEMU of scripts/qemu-pmu needs none.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

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
		expect "patched QEMU, $cpu" 0 "$line comes by itself, at the instruction" run --qemu "$qemu" --cpu $cpu
	done
else
	skip 'patched QEMU' 'scripts/qemu-pmu --path arm64 would have to build it first'
fi

# positions ARCH options...: cpc_position checks the instruction at which an overflow interrupts, at system privilege.
# The tests of the image do the same at user privilege, on each of these machines.
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

# The manual's Example 2.  Its computation is 20 times 980 instructions and a call, 19,700 in all.  Some 200 more follow up
# to the end of counting.  The period is 1,000, and includes 16 to 51 instructions of the handler's tail.  That makes 20
# signals: 19,700 / 984 > 20, 19,900 / 949 < 21.
example2() {
	arch=$1
	shift
	expect "example2, $arch $*" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg "$@" -- example2
	sed -E 's/0x[0-9a-f]{5,}/ADDRESS/g' "$out" | sort | uniq -c | sed 's/^ *//' >"$tap_dir/lines"
	cat >"$tap_dir/want" <<'END'
20 0x0
20 lwp1 - si_addr ADDRESS ucontext: %pc ADDRESS %sp ADDRESS
END
	check "example2, $arch $*: 20 signals, each at the instruction" diff "$tap_dir/lines" "$tap_dir/want"
	check "example2, $arch $*: si_addr is the PC" test "$(awk '/^lwp/ && $4 == $7' "$out" | wc -l)" = 20
}
example2 arm64
if scripts/qemu-pmu --built; then
	example2 x86_64 --cpu intel-v5
	example2 x86_64 --cpu amd-v2
fi
# A longer run of a test of the image: 3,000 sequences of a random handler's calls, on counters of 32 and of 48 bits.
sequences=3000
[ "${BARECPC_CAMPAIGN-}" != yes ] || sequences=10000
fuzz() {
	arch=$1
	shift
	expect "fuzz, $arch $*" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg "$@" \
		--payload "build/$arch/tests.cpio" -- cpc_fuzz $sequences
	check "fuzz, $arch $*: no harm is done" sh -c "grep -q '^ok 1' '$out' && ! grep '^not ok' '$out'"
}
fuzz arm64 --cpu cortex-a72
if scripts/qemu-pmu --built; then
	fuzz x86_64 --cpu intel-v5
	fuzz x86_64 --cpu amd-legacy --smp 4
fi

# storm ARCH options...: every event that the witness saw is counted by an LWP, or is unowned or idle.
storm() {
	arch=$1
	shift
	expect "storms, $arch $*" 0 '^witness: agrees in each of' scripts/barecpc run --arch "$arch" --accel tcg "$@" \
		--append witness=both --payload "build/$arch/tests.cpio" -- cpc_storm
}
storm arm64
if scripts/qemu-pmu --built; then
	storm x86_64 --smp 4
fi

for arch in arm64 x86_64; do
	for how in -std=c99 -std=gnu11 -D_GNU_SOURCE -D_POSIX_C_SOURCE=200809L; do
		check "example2, $arch: compiles with $how" scripts/barecpc-cc --arch $arch $how -I. -Wall -Wextra -Werror \
			-fsyntax-only payloads/benchmarks/example2.c
	done
done
expect 'example2 without counters' 77 '^example2: <not supported>: PMU absent: ' \
	scripts/barecpc run --arch arm64 --accel tcg --cpu max,pmu=off -- example2
end
