#!/bin/sh
# Without a PMU everything runs and nothing is counted.  The reason is given once, and the status is 77.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# uncounted NAME REASON options...
uncounted() {
	name=$1
	reason=$2
	shift 2
	expect "$name: the status" 77 '^host: ran, but counted nothing' scripts/barecpc run --accel tcg \
		--results "$tap_dir/results" "$@"
	check "$name: each row says it is not supported" test "$(grep -c '<not supported>  *-' "$out")" -ge 5
	check "$name: the reason, once" test "$(grep -cE "$reason" "$out")" = 1
	check "$name: the line of the log, once" test "$(grep -cE "^pcbe: .*$reason" "$err")" = 1
	check "$name: no record has a count" sh -c "! grep -q '\"status\":\"counted\"' '$tap_dir/results'"
	check "$name: the records are as the schema has them" python3 -B tests/cli/lib/schema.py "$tap_dir/results"
	check "$name: every payload verified its result" sh -c \
		"grep -q '\"verified\":true' '$tap_dir/results' && ! grep -q '\"verified\":false' '$tap_dir/results'"
}

uncounted 'arm64 without PMUv3' 'PMU' --arch arm64 --cpu max,pmu=off
uncounted 'x86-64 on stock QEMU' 'PMU' --arch x86_64 --qemu stock
end
