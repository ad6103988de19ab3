#!/bin/sh
# What operations cost: no more than docs/measurements.md says, at either privilege.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

bench() {
	scripts/barecpc run --accel tcg "$@" -- bench >"$out" 2>"$err" </dev/null
}

# The table, an operation a line: its name and n, a tab, its cost.
table() {
	awk '$NF ~ /^[0-9]+$/ && NF > 2 { cost = $NF; $NF = ""; print $0 "\t" cost }' "$1" | sort
}

# costs PRIVILEGE: none grew by more than 2 %, none is missing.
costs() {
	table "$out" >"$tap_dir/now"
	awk -F '\t' 'NR == FNR { now[$1] = $2; next }
		!($1 in now) { print $1 "is not measured"; bad = 1; next }
		now[$1] > $2 * 1.02 { print $1 "costs " now[$1] ", documented are " $2; bad = 1 }
		END { exit bad }' "$tap_dir/now" "$tap_dir/documented"
}

for arch in arm64 x86_64; do
	sed -n "/<!-- bench $arch -->/,/<!-- bench $arch -->/p" docs/measurements.md >"$tap_dir/text"
	table "$tap_dir/text" >"$tap_dir/documented"
	check "$arch: the table is documented" test -s "$tap_dir/documented"
	for priv in user system; do
		check "$arch: bench runs, $priv privilege" bench --arch "$arch" --append "priv=$priv"
		check "$arch: costs, $priv privilege" costs
	done
done
end
