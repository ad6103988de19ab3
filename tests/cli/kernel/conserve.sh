#!/bin/sh
# Random mixes of LWPs, 25 seeds on each machine, by `make check-all` 200 or 50: every count is exact, their sum the witness's.
# They run on one CPU and migrate between several, through signals, overflows and execve(2).  At system privilege a count
# is at least the known minimum, and equal to what the witness saw.  Sets bound to CPUs count what all LWPs ran there.
# The programs check the counts, the kernel checks the sum.  This script adds up the kernel's numbers again, because a
# test that checks itself could forget to.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# sums NCPU: each CPU has a line whose parts (LWPs, unowned, idle) add up, and no window differs.  A count above 1e12
# means that the witness's PIC was written, and wrapped.
sums() {
	awk -v ncpu="$1" '
		/^witness: CPU/ { cpus++; lwps += $6; windows += $15; if ($4 != $6 + $10 + $13 || $4 > 1e12) { print; bad = 1 } }
		/^witness: agrees in each of/ { agree = $6 }
		END { exit bad || cpus != ncpu || lwps == 0 || windows == 0 || agree != windows }' "$err"
}

# boot POINT WITNESS ARCH NCPU "PROGRAM ARGUMENTS" options...: the program's first point is POINT.
boot() {
	point=$1 witness=$2 arch=$3 ncpu=$4 program=$5
	shift 5
	name="$program, witness=$witness, $arch, $ncpu CPU(s)${*:+, $*}"
	# shellcheck disable=SC2086 # the program's words
	expect "$name" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg --smp "$ncpu" --timeout $((60 + 4 * seeds)) \
		--append "witness=$witness" --payload "build/$arch/tests.cpio" "$@" -- $program
	check "$name: counts" grep -qx "ok 1 - $point" "$out"
	check "$name: sums" sums "$ncpu"
}
lwps() {
	boot every_lwp_counts_what_it_ran "$@"
}
cpus() {
	boot cpus_count_what_all_lwps_ran "$@"
}

seeds=25 few=25
[ "${BARECPC_CAMPAIGN-}" != yes ] || seeds=200 few=50

lwps user arm64 1 "conserve 1 $seeds"
lwps user arm64 1 "conserve 1 $seeds" --cpu cortex-a72
lwps user arm64 2 "conserve 1 $seeds" --qemu pmu
lwps user arm64 4 "conserve 1 $seeds" --qemu pmu
lwps user x86_64 1 "conserve 1 $seeds"
lwps user x86_64 2 "conserve 1 $seeds"
lwps user x86_64 4 "conserve 1 $seeds"
lwps user x86_64 2 "conserve 1 $seeds" --cpu amd-legacy
lwps user x86_64 4 "conserve 1 $seeds" --cpu amd-v2
lwps both arm64 1 "conserve 1 $few"
lwps system arm64 4 "conserve 1 $few" --qemu pmu
lwps system x86_64 1 "conserve 1 $few"
lwps both x86_64 4 "conserve 1 $few"
lwps both x86_64 2 "conserve 1 $few" --cpu amd-v2
lwps system arm64 1 "conserve 1 $few" --append priv=system
lwps both arm64 2 "conserve 1 $few" --append priv=system --qemu pmu
lwps system x86_64 4 "conserve 1 $few" --append priv=system
lwps system x86_64 1 "conserve 1 $few" --append priv=system --cpu amd-v2
cpus user arm64 1 conserve_cpu
cpus user arm64 4 conserve_cpu --qemu pmu
cpus user x86_64 2 conserve_cpu --cpu amd-legacy
cpus user x86_64 4 conserve_cpu
end
