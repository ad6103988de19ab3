#!/bin/sh
# Microbenchmarks: `barecpc nb` counts the instructions of code exactly.  The lines of tests/cli/nb/ARCH are a number of
# instructions and code that has so many.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# Make the lines of -snippets from those of a table.
lines_of() {
	sed -E 's/^([0-9]+) (.*)$/-asm "\2" -name "\1 \2"/' "$1"
}

# counts: print the code, and what was counted, in the form of the table: `2 ADD ...` for "# 2 ADD ...: 2000 copies" that
# counts 2.
counts() {
	awk '/^# [0-9]+ .* copies/ { sub(/^# [0-9]+ /, ""); sub(/: [0-9]+ copies.*/, ""); code = $0 }
		sub(/^Instructions retired: /, "") { sub(/\.00$/, ""); print $0 " " code }' "$1"
}

# nanoBench's file for counters that RDMSR reads: the last PIC of four counts instructions; these registers are absent.
cat >"$tap_dir/msrs" <<END
# comment
msr_189h=0x4300C0h.msr_38F=8 msr_C4 RETIRED
msr_0xC0000103=7 msr_0xC0000103 Constant
msr_0xC0000103=7 msr_0x8FF Absent
msr_0xC0000103=7.msr_0x802=1 msr_0x10 Read only
msr_0xC0000103 Bare
END
fast='-unroll_count 50 -n_measurements 3 -warm_up_count 1'
for arch in arm64 x86_64; do
	lines_of tests/cli/nb/$arch >"$tap_dir/snippets"
	for privilege in user system; do
		[ $arch$privilege != x86_64system ] ||
			cat >>"$tap_dir/snippets" <<END
-asm 'INC RAX; NOP' -msr_config $tap_dir/msrs -name registers
-asm_init 'MOV ECX, 0xC0000103; RDMSR; CMP EAX, 7; JNE 1f; UD2; 1:' -asm NOP -csv -name restored
END
		# shellcheck disable=SC2086 # $fast has several words
		expect "$arch, $privilege privilege: a boot with all snippets" 0 '^barecpc: exit 0' \
			scripts/barecpc nb --arch $arch --accel tcg -privilege $privilege $fast -snippets "$tap_dir/snippets"
		counts "$out" >"$tap_dir/counted"
		check "$arch, $privilege privilege: each count is exact" diff tests/cli/nb/$arch "$tap_dir/counted"
	done
done

sed -n '/^# registers: /,/^# x86_64: /p' "$out" | grep -v '^# \(registers\|emulated\|x86_64\)' >"$tap_dir/registers"
check '-msr_config: counters that RDMSR reads' diff - "$tap_dir/registers" <<END
RETIRED: 2.00
Constant: 0.00
Absent: <not supported>
# <not supported>: Absent: this CPU has no msr_0x8ff
Read only: <not supported>
# <not supported>: Read only: this CPU has no msr_0x802, or refuses its value
Bare: 0.00
END

# Code that faults ends the program, and leaves no register changed for the next one.
echo 'msr_0xC0000103=7 msr_0xC0000103 Constant' >"$tap_dir/msrs"
cat >"$tap_dir/snippets" <<END
-asm UD2 -msr_config $tap_dir/msrs -name faulty
-asm_init 'MOV ECX, 0xC0000103; RDMSR; CMP EAX, 7; JNE 1f; UD2; 1:' -asm NOP -csv -name restored
END
# shellcheck disable=SC2086 # $fast has several words
expect '-msr_config: code that faults' 1 '^nb: faulty: the code faults: SIGILL' \
	scripts/barecpc nb --arch x86_64 --accel tcg -privilege system $fast -snippets "$tap_dir/snippets"
check '-msr_config: the next program finds the old values' grep -q '^Instructions retired,1\.00' "$out"

# A snippet counts the same alone and after eight others, reading by reading.
one='-asm "PUSH RAX; LOCK XADD [R14], RAX; POP RBX" -name one -verbose'
head -n 8 tests/cli/nb/x86_64 | sed -E 's/^([0-9]+) (.*)$/-asm "\2"/' >"$tap_dir/nine"
echo "$one" >>"$tap_dir/nine"
echo "$one" >"$tap_dir/one"
for file in one nine; do
	# shellcheck disable=SC2086
	expect "$file" 0 '' scripts/barecpc nb --arch x86_64 --accel tcg $fast -snippets "$tap_dir/$file"
	sed -n '/^# one: /,$p' "$out" >"$tap_dir/$file.out"
done
check 'three instructions' grep -qx 'Instructions retired: 3.00' "$tap_dir/one.out"
check 'alone and after eight others' diff "$tap_dir/one.out" "$tap_dir/nine.out"

# The overhead is the same for 1 to 10,000 copies.
modes='3'
[ "${BARECPC_CAMPAIGN-}" = yes ] && modes=5
printf '%s\n' '' -no_mem '-loop_count 3' -df '-alignment_offset 12' | head -n "$modes" | while read -r mode; do
	for n in 1 2 10 100 1000 10000; do
		echo "-asm nop -end_to_end -no_normalization -unroll_count $n $mode"
	done
done >"$tap_dir/overhead"
# For each line, the count less that of the copies; then how many different ones there are in each mode.
overheads() {
	awk '/^# nop: [0-9]+ copies/ { n = $3; loops = /, 3 times/ ? 3 : 1 }
		/^Instructions retired: / { print $3 - n * loops }' "$1" | paste - - - - - -
}
[ "${BARECPC_CAMPAIGN-}" = yes ] && privileges='user system' || privileges=user
for arch in arm64 x86_64; do
	for privilege in $privileges; do
		expect "$arch, $privilege privilege: 1 to 10,000 copies" 0 '' scripts/barecpc nb --arch $arch --accel tcg \
			-privilege "$privilege" -n_measurements 1 -warm_up_count 0 -snippets "$tap_dir/overhead"
		overheads "$out" >"$tap_dir/overheads"
		check "$arch, $privilege privilege: the overhead is constant in each mode" \
			test "$(grep -cE "^([1-9][0-9]*)([[:space:]]\\1){5}\$" "$tap_dir/overheads")" = "$modes"
	done
done

# The examples of nanoBench's README, with its configuration for Skylake: instructions, and what an emulator lacks.
cat >"$tap_dir/skylake" <<END
# comment

3C.00 CORE_CYCLES
C0.00 INST_RETIRED
0E.01 UOPS_ISSUED
A1.01 UOPS_DISPATCHED_PORT.PORT_0
C4.00 BR_INST_RETIRED.ALL_BRANCHES
C0.00.CMSK=1 Cycles with an instruction
C0.00.CMSK=1.INV Cycles without
C0.00.CTR=2 On PIC 2
C0.00.TakenAlone Alone
CD.01.MSR_3F6H=4 Latency
C0.00
PAPI_tot_ins preset
instructions:k perf
END
cat >"$tap_dir/examples" <<END
-asm "ADD RAX, RBX; ADD RBX, RAX"
-asm_init "MOV RAX, R14; SUB RAX, 8; MOV [RAX], RAX" -asm "MOV RAX, [RAX]"
END
expect "the examples of nanoBench's README" 0 '' scripts/barecpc nb --arch x86_64 --accel tcg -config "$tap_dir/skylake" \
	-snippets "$tap_dir/examples" --results "$tap_dir/r.jsonl"
# results: the lines of events of one example.
results() {
	grep -v '^#' "$out" | sed -n "$1p" | cut -d: -f 1,2
}
cat >"$tap_dir/want" <<END
CORE_CYCLES: 4.00
INST_RETIRED: 2.00
UOPS_ISSUED: <not supported>
UOPS_DISPATCHED_PORT.PORT_0: <not supported>
BR_INST_RETIRED.ALL_BRANCHES: 0.00
Cycles with an instruction: 2.00
Cycles without: 2.00
On PIC 2: 2.00
Alone: 2.00
Latency: <not supported>
C0.00: 2.00
preset: 2.00
perf: 0.00
END
results 1,13 >"$tap_dir/got"
check 'example 1: ADD' diff "$tap_dir/want" "$tap_dir/got"
results 14,26 >"$tap_dir/got"
sed 's/2\.00/1.00/; s/4\.00/2.00/' "$tap_dir/want" >"$tap_dir/want2"
check 'example 2: a load' diff "$tap_dir/want2" "$tap_dir/got"
check 'the passes are compared' test "$(grep -c '^# [0-9]* passes, the same PAPI_tot_ins in each$' "$out")" = 2
check 'the heading says that cycles are a model' \
	test "$(grep -c "^# emulated: instructions are exact; cycles are the emulator's model, not a CPU's$" "$out")" = 2
echo 'CD.01.MSR_3F6H=4 Latency' >"$tap_dir/latency"
expect 'a missing attribute' 77 'counted nothing' \
	scripts/barecpc nb --arch x86_64 --accel tcg --model intel-v5 -config "$tap_dir/latency" -asm nop
check 'it is named' grep -q '^# <not supported>: Latency: this PMU has no attribute msr_ldlat$' "$out"
check 'the records are equal to themselves' scripts/barecpc compare "$tap_dir/r.jsonl" "$tap_dir/r.jsonl"
scripts/barecpc export --to csv "$tap_dir/r.jsonl" >"$tap_dir/csv"
check 'the records are exported with their values' grep -q 'MOV RAX.*INST_RETIRED.*,1000,' "$tap_dir/csv"

# Options, in nanoBench's spellings and with two dashes.
expect 'short and long options' 0 '' scripts/barecpc nb --arch x86_64 --accel tcg --asm 'INC RAX' -l 3 --unr 10 -n_m 2 -med -ran -cs
check 'they print CSV' test "$(grep -v '^#' "$out" | head -n 2 | paste -s -d ' ')" = \
	'event,value,min,max Instructions retired,1.00,1.00,1.00'
check 'they name the aggregate' grep -q ': 20 copies, less 10, 3 times; for each copy; medians of 2 runs' "$out"
printf '\110\377\300' >"$tap_dir/inc.bin"
cat >"$tap_dir/options" <<END
-code $tap_dir/inc.bin -remove_empty -usr 0 -os 1 -name none
-code $tap_dir/inc.bin -remove_empty -range
-asm_init 'XOR R8, R8' -asm 'TEST R8, R8; JNZ 1f; MOV EAX, 39; SYSCALL; INC R8; 1:' -basic -l 100 -n_m 1 -war 0 -usr 0 -os 1 -name rare
-att -asm 'movq \$1, %rax; addq %rax, %rbx' -cpu 1 -basic
END
expect 'machine code and AT&T syntax' 0 '' scripts/barecpc nb --arch x86_64 --accel tcg -snippets "$tap_dir/options"
check 'they count, and leave out events that did not occur' \
	test "$(grep '^Ins' "$out" | sed 2d | paste -s -d ,)" = 'Instructions retired: 1.00 [1.00;1.00],Instructions retired: 2.00'
# One system call in 100,000 copies: a value that is not zero is not printed as 0.00.
check 'a small count is not zero' test "$(grep -cE '^Instructions retired: 0\.00[0-9]*[1-9]$' "$out")" = 1

# Chains, and functions of object files.  chain(n) runs 2 n + 1 instructions; its caller runs 3, or 4 where the number n
# takes two instructions.
cat >"$tap_dir/chain_x86_64.s" <<END
.globl chain
chain: dec %rdi; jnz chain; incq count(%rip); ret
.bss
count: .quad 0
END
cat >"$tap_dir/chain_arm64.s" <<END
.globl chain
chain: subs x0, x0, 1; b.ne chain; ret
END
x86_64-linux-gnu-as -o "$tap_dir/chain_x86_64.o" "$tap_dir/chain_x86_64.s"
aarch64-linux-gnu-as -o "$tap_dir/chain_arm64.o" "$tap_dir/chain_arm64.s"
cat >"$tap_dir/chains_x86_64" <<END
-latency "ADD RAX, RBX"
-latency "MOV RAX, [R14]"
-throughput "IMUL RAX, RBX"
-kernel $tap_dir/chain_x86_64.o -symbol chain -arg 1000
END
cat >"$tap_dir/chains_arm64" <<END
-latency "fadd d0, d1, d2"
-latency "ldr x2, [x0]"
-throughput "mul w2, w2, w3"
-kernel $tap_dir/chain_arm64.o -symbol chain -arg 1000
END
for arch in arm64 x86_64; do
	expect "$arch: -latency, -throughput, -kernel" 0 '' scripts/barecpc nb --arch $arch --accel tcg -snippets "$tap_dir/chains_$arch"
	check "$arch: their instructions" test "$(sed -n 's/^Instructions retired: //p' "$out" | paste -s -d ' ')" = \
		"1.00 1.00 1.00 $([ $arch = arm64 ] && echo 2004.00 || echo 2005.00)"
	check "$arch: how many instructions a copy has" test "$(sed -n 's/.*; for each of \([0-9]*\) inst.*/\1/p' "$out" | paste -s -d ' ')" = '2 8'
done

# Cycle by cycle: the emulated x86 has two cycles for each instruction, arm64 one.
# The second snippet takes its NOPs in its first run only, which is a warm-up.
cat >"$tap_dir/cycles_x86_64" <<'END'
-cycle_by_cycle -asm "ADD RAX, RBX; JMP 1f; 1: DEC RCX"
-cycle_by_cycle -warm_up_count 1 -asm "CMP BYTE PTR [R14], 7; JE 1f; NOP; NOP; 1: MOV BYTE PTR [R14], 7"
END
echo '-cycle_by_cycle -asm "mov w3, 2; 1: subs w3, w3, 1; b.ne 1b"' >"$tap_dir/cycles_arm64"
cat >"$tap_dir/cycles" <<END
Instructions retired: 0 1 1 2 2 3 3
Core cycles: 0 2 2 4 4 6 6
Reference cycles: 0 1 1 2 2 3 3
Instructions retired: 0 1 1 2 2 3 3
Core cycles: 0 2 2 4 4 6 6
Reference cycles: 0 1 1 2 2 3 3
Instructions retired: 0 1 2 3 4 5
Core cycles: 0 1 2 3 4 5
END
for arch in x86_64 arm64; do
	expect "$arch: cycle by cycle" 0 '' scripts/barecpc nb --arch $arch --accel tcg -n_measurements 1 -snippets "$tap_dir/cycles_$arch"
	grep -v '^#' "$out" >>"$tap_dir/cycles.out"
done
check 'the counts after each cycle' diff "$tap_dir/cycles" "$tap_dir/cycles.out"
# The first cycle that is left out is one after the code.
check 'nb says that cycles at the end are left out' sh -c "scripts/barecpc nb --arch arm64 --accel tcg -n_measurements 1 -cycle_by_cycle \
	-end_to_end -unroll_count 3300 -asm nop 2>/dev/null | grep -qx '# more than 4096 cycles: the rest is left out'"

# llvm-exegesis' snippets and results.
cat >"$tap_dir/snippet.s" <<END
# LLVM-EXEGESIS-LIVEIN RDI
# LLVM-EXEGESIS-DEFREG XMM1 42
# LLVM-EXEGESIS-DEFREG RSI 3
1: dec %rsi # three times, and once for ever
movq \$5, 8(%rdi)
vmulps (%rdi), %xmm1, %xmm2
END
sed -i 's/^1: //; s/ # three.*/ # a comment/' "$tap_dir/snippet.s"
printf '%s\n' "-exegesis $tap_dir/snippet.s" '-latency "IMUL RAX, RBX"' '-asm "|5; LEA RAX, [RBX+4*RCX+16]"' >"$tap_dir/llvm"
if command -v llvm-mc llvm-exegesis >/dev/null; then
	expect "llvm-exegesis' snippet" 0 '' scripts/barecpc nb --arch x86_64 --accel tcg -snippets "$tap_dir/llvm" -yaml "$tap_dir/yaml"
	check 'it is counted' grep -qx 'Instructions retired: 3.00' "$out"
	expect 'llvm-exegesis reads the results' 0 '' llvm-exegesis -mode=analysis \
		-benchmarks-file="$tap_dir/yaml" -analysis-numpoints=1 -analysis-clusters-output-file="$tap_dir/clusters"
	check 'all of them' grep -qx 'Parsed 3 benchmark points' "$out"
	check 'it knows the instructions and their cycles' test "$(cut -d '"' -f 2- "$tap_dir/clusters" | grep -cE \
		'^(decq.*vmulps.*2\.00|imulq.*rax; imulq.*2\.00|nop.*leaq.*2\.00)$')" = 3
else
	skip 'llvm-exegesis reads the results' 'there is no llvm-mc and llvm-exegesis (package llvm)'
fi

# Mistakes that the host finds.
# refused LINE words...: barecpc nb with these words prints this line, and ends with 125.
refused() {
	line=$1
	shift
	expect "refused: $*" 125 "^host: $line\$" scripts/barecpc nb --arch x86_64 --accel tcg "$@"
	check "refused: $*: one line" test "$(wc -l <"$err")" = 1
}
refused "-asm: no such instruction: \`foo rax'" -asm 'NOP; foo rax'
refused '-asm_init: MOV RAX, BL: .*' -asm NOP -asm_init 'MOV RAX, BL'
refused '-asm: foo: the code is copied, so it can name no address outside of it: .*' -asm 'JMP foo'
refused '-asm: \|16: not a NOP of 1 to 15 bytes: .*' -asm 'NOP; |16'
refused 'no code to measure: give -asm, .*' -no_mem
refused '-latency: CMP RAX, RBX: it writes no register, so no chain is possible: use -throughput' -latency 'CMP RAX, RBX'
refused '-symbol nothing: .* has no such global symbol' -kernel "$tap_dir/chain_x86_64.o" -symbol nothing
refused '-arg five: not a number, and not mem' -kernel "$tap_dir/chain_x86_64.o" -symbol chain -arg five
refused '-latency: give it or -asm, not both' -asm NOP -latency 'INC RAX'
refused 'unrecognized arguments: -bogus; see barecpc nb --help' -asm NOP -bogus
refused 'ambiguous option: -n could match .*' -asm NOP -n 3
refused '-debug: the image has no debugger: .*' -asm NOP -debug
refused "the code has nanoBench's bytes that pause the counters: .*" -asm '.quad 0xF0B513B1C2813F04'
refused '-code: give it or -asm, not both' -asm NOP -code "$tap_dir/inc.bin"
refused '-config: /proc/none: No such file or directory' -asm NOP -config /proc/none
echo '-asm NOP --smp 2' >"$tap_dir/bad"
refused '.*/bad:1: -smp is for all lines: give it on the command line' -snippets "$tap_dir/bad"

# Mistakes that the image finds, in one boot.
: >"$tap_dir/mistakes"
# mistake LINE STATUS WORDS: these words cause this line and status.
mistake() {
	echo "$3 -name n$(wc -l <"$tap_dir/mistakes")" >>"$tap_dir/mistakes"
	printf '%s\t%s\n' "$1" "$2" >>"$tap_dir/lines"
}
config() {
	echo "$2" >"$tap_dir/$1"
	echo "-asm NOP -config $tap_dir/$1"
}
mistake 'n0: the code faults: SIGSEGV at byte 1 of -asm \(copy 1\), address 0' 1 '-asm "NOP; MOV RAX, [0]"'
mistake 'n1: the code faults: SIGILL at byte 3 of -asm \(copy 1\)' 1 '-asm "|3; UD2"'
mistake 'n2: the code faults: SIGTRAP at byte 1 of -asm_init \(copy 1\)' 1 '-asm NOP -asm_init "NOP; INT3"'
mistake 'n3: the code faults: SIGFPE at byte 2 of -asm_late_init \(copy 1\)' 1 '-asm NOP -asm_late_init "XOR ECX, ECX; DIV ECX"'
mistake 'n4: the code faults: SIGSEGV at address 0, which is not in the code' 1 '-asm_one_time_init "XOR EAX, EAX; JMP RAX" -asm NOP'
mistake 'n5: the code faults: SIGSEGV at byte 3 of -asm \(copy 1\), address 0xfffffffffffffff8' 1 '-asm "XOR RSP, RSP; PUSH RAX"'
mistake 'n6: the code faults: SIGILL at byte 7 of -asm \(copy 3\)' 1 '-asm_init "XOR EAX, EAX" -asm "INC EAX; CMP EAX, 3; JNE 1f; UD2; 1:"'
mistake 'nb: -n_measurements: 0 is not within 1\.\.10000' 2 '-asm NOP -n_measurements 0'
mistake 'nb: -alignment_offset: 64 is not within 0\.\.63' 2 '-asm NOP -alignment_offset 64'
mistake 'nb: -usr 0 and -os 0: nothing would be counted' 2 '-asm NOP -usr 0'
mistake 'nb: 8000000000 copies of 1 bytes: too much code: lower -unroll_count' 2 '-asm NOP -unroll_count 4000000000'
mistake 'nb: c1:1: zz: not a number' 2 "$(config c1 'C0.zz X')"
mistake 'nb: c2:1: FOO: unknown: known are .*' 2 "$(config c2 'C0.00.FOO X')"
mistake 'nb: c3:1: CMSK: needs a value' 2 "$(config c3 'C0.00.CMSK X')"
mistake 'nb: c4:1: EDG=1: takes no value' 2 "$(config c4 'C0.00.EDG=1 X')"
mistake 'nb: c5:1: C0: an event select has a unit mask, as C0\.00; .*' 2 "$(config c5 'C0 X')"
mistake 'nb: c6:1: msr_0xE01=2: a register: write it into -msr_config' 2 "$(config c6 'msr_0xE01=2 msr_706 X')"
mistake 'nb: nb\.in/17\.d/config/c7: names no event' 2 "$(config c7 '# nothing')"
mistake 'nb: -msr_config: user code cannot read these registers: add -privilege system' 2 "-asm NOP -msr_config $tap_dir/msrs"
expect 'mistakes' 1 '' scripts/barecpc nb --arch x86_64 --accel tcg -snippets "$tap_dir/mistakes"
check 'each has its status' test "$(sed -n 's/^barecpc: nb: exit //p' "$err" | paste -s -d ' ')" = "$(cut -f 2 "$tap_dir/lines" | paste -s -d ' ')"
while IFS='	' read -r line _; do
	check "$line" grep -qE "^(nb: )?$line\$" "$err"
done <"$tap_dir/lines"
end
