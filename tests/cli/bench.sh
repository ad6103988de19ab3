#!/bin/sh
# Kernels by <bench.h>: exact counts, arguments, the choice of kernels, and mistakes.
# shellcheck disable=SC2086 # $run has several words
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

check 'it compiles, with a function of a name that the library has' scripts/barecpc-cc --arch arm64 -O2 -Wall -Wextra \
	-Werror -o "$tap_dir/bench" tests/cli/bench.c -lpayload
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

expect 'the others, their names' 0 'barecpc: exit 0' $run --filter=-'wrong|no_loop|left|argument|turns' --list
check 'names in the order of the file' test "$(tr '\n' ' ' <"$out")" = \
	'product/2/1 product/2/2 product/8/1 product/8/2 empty skipped/1 skipped/2 '

expect 'a kernel that skips' 0 'barecpc: exit 0' $run --filter skipped
check 'the row has the reason' test "$(rows)" = 'skipped/1 2;skipped/2 <not;'
check 'once' test "$(grep -c '^# <not counted>: two are too many$' "$out")" = 1
expect 'a wrong result' 1 '^bench: wrong: wrong result$' $run --filter wrong
check 'the record says so' grep -q '"verified":false' "$tap_dir/r.jsonl"

expect 'lists on the command line' 0 'barecpc: exit 0' $run --filter product --list 3/1 100/1
check 'they replace those of the kernel' test "$(tr '\n' ' ' <"$out")" = 'product/3/1 product/100/1 '
expect 'no such kernel' 2 '^bench: --filter: x: matches no kernel: --list prints them$' $run --filter x
expect 'no loop' 2 '^bench: no_loop: it has no loop: a kernel needs one whole BENCH_LOOP$' $run --filter no_loop
expect 'a loop that is left' 2 '^bench: left: it left its loop: a kernel needs one whole BENCH_LOOP$' $run --filter left
expect 'an argument that the list lacks' 2 '^bench: argument: has no argument 0: add it to BENCH_ARGS$' \
	$run --filter argument
end
