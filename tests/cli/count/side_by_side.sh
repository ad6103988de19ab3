#!/bin/sh
# With several CPUs, a tool does in time what it does next to a busy program: its CPU does not wait for the busy one.  The clock
# of these boots is the number of instructions, so the times are known whatever the host is.
# shellcheck disable=SC2086,SC2016
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

if ! scripts/qemu-pmu --built; then
	skip 'several CPUs' 'scripts/qemu-pmu --path arm64 would have to build it first'
	end
fi

for arch in arm64 x86_64; do
	cp build/$arch/tests/pctx_target "$tap_dir/busy"
	run="scripts/barecpc run --arch $arch --accel tcg --payload $tap_dir/busy --payload build/$arch/archive.cpio"

	# The program is busy for 120 ms, and cpustat counts for 40.  A busy CPU retires 10,000,000 instructions in a turn of
	# 10 ms: 1 % is for the ticks of both CPUs.
	expect "$arch: cpustat next to a busy program" 7 '^barecpc: exit 7' $run --smp 2 \
		-- busy spin 60000000 '&' cpustat -n -c PAPI_tot_ins 0.01 4
	check "$arch: it ends when it should, and counts each turn once" awk '
		$3 == "tick" { n[$1] += $4; rows++ }
		$3 == "total" { total = $1 == "0.040" }
		END { exit !(total && rows == 8 && near(n["0.020"]) && near(n["0.030"]) && near(n["0.040"])) }
		function near(x) { return x > 9900000 && x < 10100000 }' "$out"

	# stat learns of the end after the program'"'"'s slice of 4 ms at most.
	expect "$arch: a program that --timeout ends" 137 '^stat: busy: ended after 20 ms \(--timeout\)$' $run --smp 4 \
		-- stat --timeout 20 -e PAPI_tot_ins:u busy spin 400000000
	check "$arch: it ran for 20 to 24 ms" sh -c "awk '/seconds time elapsed/ { exit !(\$1 > 0.020 && \$1 < 0.0245) }' '$err'"
	check "$arch: and retired no more than that" awk '$2 ~ /^PAPI_tot_ins/ { exit !($1 > 10000000 && $1 < 24500000) }' "$err"
done
end
