#!/bin/sh
# Random mixes of LWPs, 200 seeds a machine: every count is what its LWP ran, on one CPU and across migration between
# several, and all of them together are the witness's.  The program compares the first, the kernel the second; what
# the kernel prints is added up again here, since whoever checks himself could forget to.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

# sums NCPU: a line for each CPU, on which LWPs, unowned and idle make the whole; and no window differs.  A witness
# that somebody wrote to has gone round.
sums() {
	awk -v ncpu="$1" '
		/^witness: CPU/ { cpus++; lwps += $6; windows += $15; if ($4 != $6 + $10 + $13 || $4 > 1e12) { print; bad = 1 } }
		/^witness: agrees in each of/ { agree = $6 }
		END { exit bad || cpus != ncpu || lwps == 0 || windows == 0 || agree != windows }' "$err"
}

# conserve WITNESS ARCH NCPU SEEDS options...
conserve() {
	witness=$1 arch=$2 ncpu=$3 seeds=$4
	shift 4
	name="witness=$witness, $arch, $ncpu CPU(s)${*:+, $*}"
	expect "$name" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg --smp "$ncpu" --timeout 60 \
		--append "witness=$witness" --payload "build/$arch/tests.cpio" "$@" -- conserve 1 "$seeds"
	check "$name: counts" grep -qx 'ok 1 - every_lwp_counts_what_it_ran' "$out"
	check "$name: sums" sums "$ncpu"
}

conserve user arm64 1 200
conserve user arm64 1 200 --cpu cortex-a72
conserve user arm64 2 200 --qemu pmu
conserve user arm64 4 200 --qemu pmu
conserve user x86_64 1 200
conserve user x86_64 2 200
conserve user x86_64 4 200
conserve user x86_64 2 200 --cpu amd-legacy
conserve user x86_64 4 200 --cpu amd-v2
conserve both arm64 1 50
conserve system arm64 4 50 --qemu pmu
conserve system x86_64 1 50
conserve both x86_64 4 50
conserve both x86_64 2 50 --cpu amd-v2
end
