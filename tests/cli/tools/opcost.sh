#!/bin/sh
# Operations cost no more than tests/cli/costs.md says, at either privilege.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# opcost ARGUMENTS [options of scripts/barecpc]
opcost() {
	args=$1
	shift
	# shellcheck disable=SC2086 # any number of arguments
	scripts/barecpc run --accel tcg "$@" -- opcost $args >"$out" 2>"$err" </dev/null
}

# table FILE: the table with one operation per line: its name and n, a tab, its cost.
table() {
	awk '$NF ~ /^[0-9]+$/ && NF > 2 { cost = $NF; $NF = ""; print $0 "\t" cost }' "$1" | sort
}

# The documented costs are those of two compilers, side by side.
gcc=$(aarch64-linux-gnu-gcc -dumpversion)
gcc=${gcc%%.*}
case $gcc in
14) second=1 ;;
*) second=0 ;;
esac

# documented NAME COLUMN OF: read this column of the table of this name, which has so many columns of costs.
documented() {
	sed -n "/<!-- $1 -->/,/<!-- $1 -->/p" tests/cli/costs.md |
		awk -v column="$2" -v of="$3" '$NF ~ /^[0-9]+$/ && NF > of + 1 {
			cost = $(NF - of + column)
			NF -= of
			print $0 " \t" cost
		}' | sort >"$tap_dir/documented"
	test -s "$tap_dir/documented"
}

# costs: no cost is more than 10 % above the documented one, and none is missing.
costs() {
	table "$out" >"$tap_dir/now"
	awk -F '\t' 'NR == FNR { now[$1] = $2; next }
		!($1 in now) { print $1 "is not measured"; bad = 1; next }
		now[$1] > $2 * 1.1 { print $1 "costs " now[$1] ", documented are " $2; bad = 1 }
		END { exit bad }' "$tap_dir/now" "$tap_dir/documented"
}

# check_costs NAME VERSION...: the documented costs are those of these versions of gcc.
check_costs() {
	name=$1
	shift
	case " $* " in
	*" $gcc "*) check "$name" costs ;;
	*) skip "$name" "the documented costs are those of gcc $*, and this is gcc $gcc" ;;
	esac
}

# flat: with 1,000 others no operation costs 10 % more than with one, and creating an LWP not 15 % more.  A create+join changes
# the tree of the program's regions four times, and pays for its height.  The table of futexes has 1,024 heads, so two LWPs
# often share a list.  Passing a waiter takes 7 instructions, 4 % of the shortest operation that does it.
flat() {
	awk '$NF ~ /^[0-9]+$/ && NF > 3 { cost = $NF; n = $(NF - 1); $NF = $(NF - 1) = ""
			if (n == 1) first[$0] = cost
			most = $0 ~ /^create/ ? 1.15 : 1.1
			if (n == 1000) { seen++; if (cost > first[$0] * most) { print $0 "costs " first[$0] " and " cost; bad = 1 } } }
		END { exit bad || seen == 0 }' "$out"
}

# worst: no bind costs 20,000, with any coverage of its requests.
worst() {
	awk '/^bind, / { seen++; if ($NF >= 20000) { print; bad = 1 } } END { exit bad || seen != 2 }' "$out"
}

# same: with these CPUs no operation costs 5 % more than with one.  If another CPU exists, a yield takes 3 instructions
# more.  A difference of 15 is allowed for two other waiters in a futex's list, as above.  A create+join takes pages, and
# one that splits the largest block and joins it again adds 3 % to it.  How many do so depends on which pages are free, and
# each CPU has taken some: 15 % are allowed, as above.
same() {
	table "$out" >"$tap_dir/now"
	awk -F '\t' 'NR == FNR { one[$1] = $2; next }
		{ seen++ }
		{ most = $1 ~ /^create/ ? 1.15 : 1.05 }
		$2 > one[$1] * most && $2 > one[$1] + 15 { print $1 "costs " $2 ", with one CPU " one[$1]; bad = 1 }
		END { exit bad || seen == 0 }' "$tap_dir/one" "$tap_dir/now"
}

# For arm64 in the patched QEMU, only the differences of its 32-bit PICs are documented.
for priv in user system; do
	own=1
	[ $priv = user ] || own=2
	check "cortex-a72: the table is documented, $priv privilege" documented "opcost a72" $((own + second * 2)) 4
	check "cortex-a72: opcost runs, $priv privilege" opcost "" --arch arm64 --qemu pmu --cpu cortex-a72 --append "priv=$priv"
	check_costs "cortex-a72: costs, $priv privilege" 12 14
done
for arch in arm64 x86_64; do
	for priv in user system; do
		own=1
		[ $priv = user ] || own=2
		check "$arch: the table is documented, $priv privilege" documented "opcost $arch" $((own + second * 2)) 4
		check "$arch: opcost runs, $priv privilege" opcost "" --arch "$arch" --append "priv=$priv"
		check_costs "$arch: costs, $priv privilege" 12 14
		# The figures of an old commit, which nothing but gcc 12 has built.
		check "$arch: the hot paths are documented, $priv privilege" documented "hot $arch" $own 2
		check_costs "$arch: the hot paths, $priv privilege" 12
	done
	check "$arch: the flat table is documented" documented "flat $arch" $((1 + second)) 2
	check "$arch: opcost flat runs" opcost flat --arch "$arch"
	check_costs "$arch: flat costs" 12 14
	check "$arch: the costs do not grow" flat
	check "$arch: opcost assign runs" opcost assign --arch "$arch"
	check "$arch: the most expensive bind" worst
	check "$arch: opcost assign runs, 32 PICs" opcost assign --arch "$arch" --append pmu=software,papi=yes,pics=32,width=64
	check "$arch: the most expensive bind, 32 PICs" worst
	# Always the patched QEMU: only there each CPU counts its own instructions.
	check "$arch: opcost flat runs on one CPU" opcost flat --arch "$arch" --qemu pmu
	table "$out" >"$tap_dir/one"
	for ncpu in 2 4 8; do
		check "$arch: opcost flat runs on one of $ncpu CPUs" opcost flat --arch "$arch" --qemu pmu --smp "$ncpu"
		check "$arch: costs with $ncpu CPUs are the same as with one" same
	done
done
end
