#!/bin/sh
# x86-64 ends a run also where isa-debug-exit is missing: by power-off if it passed, by reset if it failed.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# QEMU with isa-debug-exit at a port that the kernel does not know.
cat >"$tap_dir/qemu" <<'END'
#!/bin/sh
for word; do
	shift
	set -- "$@" "$(echo "$word" | sed s/iobase=0xf4/iobase=0xe4/)"
done
exec qemu-system-x86_64 "$@"
END
chmod +x "$tap_dir/qemu"

# ends NAME STATUS MACHINE WORDS...: the run has this status, and the way in which the machine stopped agrees.
ends() {
	tap_end=$1
	tap_ends=$2
	tap_machine=$3
	shift 3
	expect "$tap_end" "$tap_ends" "^barecpc: exit $tap_ends\$" scripts/barecpc run --arch x86_64 --accel tcg \
		--qemu "$tap_dir/qemu" --smp 2 --machine "$tap_machine" -- "$@"
	check 'the way to stop agrees' sh -c "! grep '^host: the guest' '$err'"
}

ends 'q35 powers off by a port' 0 q35 spin --help
ends 'q35 is reset by a port' 125 q35 nonesuch
ends 'microvm powers off by a register in memory' 0 microvm spin --help
ends 'microvm is reset by a register in memory' 125 microvm nonesuch
ends 'without tables a triple fault resets it' 125 microvm,acpi=off nonesuch
end
