#!/bin/sh
# Four CPUs and more than 200 LWPs do everything that the interface offers, for a long time.
# LWPs count, switch, migrate, take signals, create LWPs, fork, execute and exit.  Sets bound to CPUs take the counters
# away, and CPUs go offline.  Nothing hangs, nothing leaks, counts are exact and the witness agrees.
#
#     tests/cli/kernel/soak.sh [MILLISECONDS [ARCHITECTURE [SEED]]]
#
# MILLISECONDS are of the emulated clock, for each architecture: 400, by `make check-all` 800.  A second of it takes some
# 50 s of CPU time, and may last ten times as long.  The guest has a gigabyte: fork copies some ten processes whole.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

ms=400
[ "${BARECPC_CAMPAIGN-}" != yes ] || ms=800
ms=${1:-$ms}
for arch in ${2:-arm64 x86_64}; do
	expect "$arch: the run ends with 0" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg --qemu pmu --smp 4 --mem 1G \
		--timeout $((60 + ms / 2)) --append witness=user --payload "build/$arch/tests.cpio" -- soak "$ms" "${3:-1}"
	check "$arch: counts are exact" grep -qx 'ok 1 - counts_are_exact_until_they_are_taken_away' "$out"
	grep -hE '^# (tests/|failed: |process |request |result )' "$out" "$err"
	check "$arch: nothing leaks" grep -qx 'ok 2 - nothing_leaked' "$out"
	check "$arch: the witness agrees" grep -qE '^witness: agrees in each of [1-9]' "$err"
	grep '^# [0-9C]' "$out"
	grep '^witness: agrees' "$err" | sed 's/^/# /'
done
end
