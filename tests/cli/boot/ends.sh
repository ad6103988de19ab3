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

# Nothing powers off a machine without ACPI.  There a reset ends a run that passed, too: QEMU ends by -no-reboot.
no_acpi() {
	timeout -k 2 120 qemu-system-x86_64 -M microvm,acpi=off,auto-kernel-cmdline=off "$@" -accel tcg -cpu max -m 256 \
		-display none -nodefaults -serial stdio -no-reboot -kernel build/x86_64/kernel.elf \
		-initrd build/x86_64/archive.cpio -append 'output=text -- spin --help' </dev/null >"$tap_dir/line" 2>&1
	tap_ended=$?
	tr -d '\r' <"$tap_dir/line" >&2
	return $tap_ended
}
expect 'without ACPI a triple fault ends a run that passed' 0 '^barecpc: exit 0$' no_acpi
expect 'without ACPI it is the keyboard controller that resets' 0 '^pckbd_kbd_write_command 0xfe$' \
	no_acpi -device i8042 -trace pckbd_kbd_write_command
end
