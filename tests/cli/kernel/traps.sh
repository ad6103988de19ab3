#!/bin/sh
# No instruction at user privilege gets control of the machine.
# Each privileged, undefined, misaligned or misdirected one ends its program with one line that names it, and the next
# program runs.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# traps ARCH PRIVILEGE <list: a line has a case, the signals that may end it (-: none), and a pattern for the rest of its
# message.
traps() {
	cat >"$tap_dir/list"
	scripts/barecpc-cc --arch "$1" -O1 -Wall -Wextra -Werror -o "$tap_dir/trap" "tests/cli/programs/kernel/trap_$1.c"
	awk '{ print "trap", $1 }' "$tap_dir/list" >"$tap_dir/suite"
	scripts/mkcpio -o "$tap_dir/traps.cpio" "$tap_dir/trap" "$tap_dir/suite"
	scripts/barecpc run --arch "$1" --accel tcg --append timeout=5 --append "priv=$2" --payload "$tap_dir/traps.cpio" \
		>"$out" 2>"$err" </dev/null
	grep '^barecpc: trap: SIG' "$err" >"$tap_dir/lines"
	while read -r name signals where; do
		if [ "$signals" = - ]; then
			check "$1 $2 $name" sh -c "! grep -E '\\($name\\+|^barecpc: trap: exit 1\$' '$err'"
		else
			check "$1 $2 $name" grep -qE "trap: ($signals) at pc .*${where:-\\($name\\+}" "$tap_dir/lines"
		fi
	done <"$tap_dir/list"
	check "$1 $2: one line each" test "$(wc -l <"$tap_dir/lines")" = "$(awk '$2 != "-"' "$tap_dir/list" | wc -l)"
	check "$1 $2: the last program still runs" grep -qx alive "$out"
	check "$1 $2: nothing leaks" sh -c "! grep -i leak '$err'"
}

traps arm64 user <<LIST
call_hypervisor SIGILL
call_monitor SIGILL
call_semihosting SIGILL
mask_interrupts SIGILL
read_el SIGILL
read_sctlr SIGILL
return_from_exception SIGILL
flush_tlb SIGILL
drop_cache_line SIGILL
translate SIGILL
read_cycles SIGILL
read_counter SIGILL
write_counter SIGILL
allow_counters SIGILL
zero_kernel_line SIGSEGV
swap_kernel_word SIGSEGV
jump_between SIGBUS
odd_exclusive SIGBUS
tagged_pointer SIGSEGV
jump_to_kernel SIGSEGV 0xffffffff80000000, address 0xffffffff80000000
use_sme SIGILL \(use_sme\+0x0\): no SME here
do_nothing -
LIST
traps arm64 system <<LIST
illegal_state SIGILL \(illegal_state\+0x[0-9a-f]+\): illegal execution state
do_nothing -
LIST
# The kernel cannot save such a program's registers, so this ends the run.
expect "arm64: a program that turns floating point off" 125 \
	'^barecpc: trap: SIGILL at pc .*\(trapped_fp\+0x8\): no floating point here' \
	scripts/barecpc run --arch arm64 --accel tcg --append priv=system --payload "$tap_dir/trap" -- trap trapped_fp
traps x86_64 user <<LIST
int_of_linux32 SIGSEGV
int_of_the_nmi SIGSEGV
int_of_a_device SIGSEGV
icebp SIGTRAP|SIGILL
halt SIGSEGV
disable_interrupts SIGSEGV
write_port SIGSEGV
read_msr SIGSEGV
read_cr3 SIGSEGV
read_pmc SIGSEGV|SIGILL
swap_gs SIGSEGV|SIGILL
sysret_here SIGSEGV
load_tables SIGSEGV
flush_caches SIGSEGV
return_to_kernel_code SIGSEGV
load_kernel_selector SIGSEGV
jump_nowhere SIGSEGV (0x8000000000000000|\(jump_nowhere)
stack_nowhere SIGSEGV|SIGBUS
call_vsyscall SIGSEGV 0xffffffffff600000, address 0xffffffffff600000
single_step SIGTRAP
divide_overflow SIGFPE
divide_x87 SIGFPE
odd_flags -
odd_thread_pointers -
int_of_overflow SIGSEGV
int_of_bound SIGSEGV
do_nothing -
LIST

# A debug exception at the first instruction of a system call finds the payload's GS and RSP.  RSP may have any value.
# So does one at the first instruction of a breakpoint's entry, which RSP 0 asks for.
scripts/barecpc-cc --arch x86_64 -O1 -Wall -Wextra -Werror -o "$tap_dir/entry_debug" tests/cli/programs/kernel/entry_debug.c
symbol() {
	nm build/x86_64/kernel.elf | awk -v name="$1" '$3 == name { print $1 }'
}
call=$(symbol x86_syscall_entry)
vectors=$(symbol x86_vectors)
int3=$(printf 'ffffffff%08x' $((0x${vectors#ffffffff} + 3 * 16)))
while read -r entry sp said; do
	scripts/barecpc run --arch x86_64 --accel tcg --append priv=system --payload "$tap_dir/entry_debug" \
		-- entry_debug "$entry" "$sp" >"$out" 2>"$err" </dev/null
	check "x86_64: a debug exception at the entry, RSP $sp" \
		grep -qE "$said at pc 0x$entry" "$err"
done <<LIST
$call ffffffffc0005ff0 ^kernel fault: debug exception
$call ffffffff80100000 ^kernel fault: debug exception
$call ffff800000100000 ^kernel fault: debug exception
$call 00007fff00000000 ^barecpc: entry_debug: SIGTRAP
$int3 0 ^kernel fault: debug exception
LIST
end
