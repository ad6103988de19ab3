#!/bin/sh
# Kernels by <bench.h>: exact counts, arguments, the choice of kernels, and mistakes.
# shellcheck disable=SC2086 # $run has several words
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

check 'it compiles, with a function of a name that the library has' scripts/barecpc-cc --arch arm64 -O2 -Wall -Wextra \
	-Werror -o "$tap_dir/bench" tests/cli/programs/bench.c -lpayload
check 'it compiles as C++' scripts/barecpc-c++ --arch arm64 -O2 -Wall -Wextra -Werror -o "$tap_dir/cxx" -x c++ \
	tests/cli/programs/bench.c -x none -lpayload
run="scripts/barecpc run --arch arm64 --accel tcg --payload $tap_dir/bench --results $tap_dir/r.jsonl -- bench -n -e PAPI_tot_ins"

# rows: name and count of the last run's rows.
rows() {
	awk '$2 == "PAPI_tot_ins:u" { print $1, $3 }' "$out" | tr '\n' ';'
}

# The loop's own two instructions, and those that bring n to make_turns.
expect 'a range' 0 'barecpc: exit 0' $run --filter turns
check 'two instructions for each turn' test "$(rows)" = 'turns/8 20;turns/64 132;turns/512 1028;turns/4096 8196;'
check 'records have the parameter in the name' test "$(grep -c '"label":"turns/\(8\|64\|512\|4096\)"' "$tap_dir/r.jsonl")" = 4
check 'Google Benchmark gets it, too' sh -c "scripts/barecpc export --to google-benchmark $tap_dir/r.jsonl |
	grep -q '\"name\": \"turns/512/PAPI_tot_ins:u\"'"
check 'compare finds no difference to itself' scripts/barecpc compare "$tap_dir/r.jsonl" "$tap_dir/r.jsonl"
expect 'ten iterations' 0 'barecpc: exit 0' $run --benchmark_filter='^(empty|turns/64)$' --iterations 10
check 'the overhead stays the same' test "$(rows)" = 'turns/64 1311;empty 21;'

# Each line is a run of the program.  All of them are in one boot.
cat >"$tap_dir/suite" <<'END'
bench --filter=-wrong|no_loop|left|argument|turns --list
bench --filter product --list 3/1 100/1
bench --filter skipped -n -e PAPI_tot_ins
bench --filter wrong -n -e PAPI_tot_ins
bench --filter x
bench --filter no_loop
bench --filter left
bench --filter argument
END
scripts/mkcpio -o "$tap_dir/suite.cpio" "$tap_dir/suite" "$tap_dir/bench"
scripts/barecpc run --arch arm64 --accel tcg --payload "$tap_dir/suite.cpio" --results "$tap_dir/r.jsonl" \
	>"$out" 2>"$err" </dev/null
check 'the suite fails' test $? = 1
check 'names in the order of the file, and lists of the command line' test "$(head -n 9 "$out" | tr '\n' ' ')" = \
	'product/2/1 product/2/2 product/8/1 product/8/2 empty skipped/1 skipped/2 product/3/1 product/100/1 '
check 'a kernel that skips' test "$(rows)" = 'skipped/1 2;skipped/2 <not;wrong 2;'
check 'the reason is there once' test "$(grep -c '^# <not counted>: two are too many$' "$out")" = 1
check 'the record of a wrong result says so' grep -q '"label":"wrong".*"verified":false' "$tap_dir/r.jsonl"
for line in 'wrong: wrong result' '--filter: x: matches no kernel: --list prints them' \
	'no_loop: it has no loop: a kernel needs one whole BENCH_LOOP' \
	'left: it left its loop: a kernel needs one whole BENCH_LOOP' \
	'argument: has no argument 0: add it to BENCH_ARGS'; do
	check "$line" grep -qxF "bench: $line" "$err"
done
end
