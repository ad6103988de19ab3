#!/bin/sh
# Parsers of untrusted bytes accept any input: the libFuzzer targets of tests/fuzz/ run with a fixed seed.
# Each starts from the inputs of tests/fuzz/corpus/NAME, which keep earlier findings, and does a fixed number of runs.
#
#     RUNS=n tests/cli/harness/fuzz.sh [NAME]...    n runs each; make fuzz RUNS=n does this
#
# With BARECPC_CAMPAIGN=yes it does 250,000 runs each.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

[ "${BARECPC_BUILD-}" = no ] && [ -x build/fuzz/dt ] || make -s fuzz-targets >&2 || exit 1
[ "${BARECPC_CAMPAIGN-}" != yes ] || RUNS=${RUNS:-250000}
[ $# -gt 0 ] || set -- elf cpio cmdline efi_cmdline memmap boot_params pxe kept acpi_arm64 acpi_x86 smbios dt event_tables
for name; do
	# A run of dt takes as long as thirty of the others, because its mutations edit a tree.
	case $name in
	dt) runs=${RUNS:-8000} ;;
	event_tables) runs=${RUNS:-2000} ;;
	boot_params | pxe | kept) runs=${RUNS:-10000} ;;
	*) runs=${RUNS:-50000} ;;
	esac
	mkdir "$tap_dir/$name"
	if build/fuzz/"$name" -seed=1 -runs="$runs" -max_len=16384 -artifact_prefix="$tap_dir/" "$tap_dir/$name" \
		tests/fuzz/corpus/"$name" >"$tap_dir/log" 2>&1; then
		ok "$name: $runs executions"
	else
		not_ok "$name: $runs executions" "$(grep -E 'ERROR|CHECK|runtime error|SUMMARY|    #[0-9] ' "$tap_dir/log" | head -n 12)
$(for f in "$tap_dir"/crash-* "$tap_dir"/oom-* "$tap_dir"/timeout-*; do
			[ ! -f "$f" ] || { echo "input: $f, in base64:" && base64 -w 0 "$f" | cut -c 1-280; }
		done)"
	fi
done
end
