#!/bin/sh
# scripts/mkevents makes the same tables of event names from the vendors' facts and the sources of libpfm4 and PAPI.
# The build machine and the image look up names in the same way.
# shellcheck disable=SC2086 # $both is words
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

scripts/mkevents --check >"$out" 2>"$err"
case $? in
0) ok 'the tables match their sources' ;;
77) skip 'the tables match their sources' "$(tail -n 1 "$err")" ;;
*) not_ok 'the tables match their sources' "$(cat "$err")" ;;
esac

# prints NAME REGEX COMMAND...: a line of its output.
prints() {
	tap_name=$1 tap_regex=$2
	shift 2
	"$@" >"$out" 2>"$err" </dev/null
	check "$tap_name" grep -E -- "$tap_regex" "$out"
}
prints 'an event' '^0x5300c0 skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0$' \
	scripts/barecpc encode --cpu skl inst_retired.any_p
prints 'an event with an extra MSR' '^0x5301b7 MSR_OFFCORE_RSP_0=0x10001 snb::OFFCORE_RESPONSE_0:DMND_DATA_RD:k=1:u=1:e=0:i=0:c=0:t=0$' \
	scripts/barecpc encode --cpu snb offcore_response_0:dmnd_data_rd
prints "one of NetBurst's" '^0x2600020f CCCR=0x3d000 netburst::global_power_events:RUNNING:k=1:u=1:e=0:cmpl=0:thr=0$' \
	scripts/barecpc encode --cpu netburst GLOBAL_POWER_EVENTS
expect 'events of a CPU that barecpc does not count on' 0 "^list: netburst_p: names and codes only: barecpc does not count with NetBurst's ESCRs" \
	scripts/barecpc list --cpu netburst_p instr_completed
prints "one of Arm's" '^0x8000008 arm_n1::INST_RETIRED:k=1:u=1:hv=0$' scripts/barecpc encode --cpu 'Neoverse N1' INST_RETIRED
expect 'an unknown name, with a suggestion' 1 '^encode: INST_RETIERD: no such event; did you mean INST_RETIRED[?]$' \
	scripts/barecpc encode --cpu skl INST_RETIERD
expect 'an unknown name without a suggestion' 1 "^encode: no_such: no such event; 'list --cpu skl' prints all names\$" \
	scripts/barecpc encode --cpu skl no_such
expect 'an unknown CPU, with the known ones' 2 '^list: z80: no such CPU; known are: .* arm_n1' \
	scripts/barecpc list --cpu z80
prints 'the CPUs with a table, and its source' '^skl  *Intel Skylake  *[0-9]+ names of perfmon [0-9a-f]{7} skylake_core [0-9]+$' \
	scripts/barecpc list --cpus
check 'a CPU of two repositories' grep -qE '^arm_n1  .* names of telemetry [0-9a-f]{7}, data [0-9a-f]{7} neoverse-n1$' "$out"
check 'a CPU that only libpfm4 has' grep -qE '^amd64_k7  .* names of libpfm4 4[.]13' "$out"
check 'the CPUs without a table' grep -q "^No table, because no source has one: Arm: Apple's" "$out"
expect '--cpus and a pattern' 2 '^list: --cpus: give it alone$' scripts/barecpc list --cpus ins
prints 'a list by pattern' '^L1D_CACHE_REFILL_RD( |$)' \
	scripts/barecpc list --cpu neoverse_n1 refill_rd
prints "one of perf's names" '^0x5100c4 skl::BR_INST_RETIRED:ALL_BRANCHES:k=0:u=1' scripts/barecpc encode --cpu skl branches:u
prints 'a list of them' '^ref-cycles  *\[Hardware event\] UNHALTED_REFERENCE_CYCLES$' scripts/barecpc list --cpu skl ref-cyc
expect 'a name of perf that the CPU has no event for' 1 "^encode: ref-cycles: the table of amd64_fam16h has no event for perf's name\$" \
	scripts/barecpc encode --cpu fam16h ref-cycles
prints 'a dot in a pattern matches a colon' '^INST_RETIRED:ANY_P( |$)' scripts/barecpc list --cpu skl inst_retired.any
prints 'a star in a pattern matches letters' '^INST_RETIRED:ANY_P( |$)' scripts/barecpc list --cpu skl 'INST*.any?p'
prints "a raw event of perf's terms" '^0x15301a8 cpu/event=0xa8,umask=1,cmask=1/$' \
	scripts/barecpc encode --cpu skl cpu/event=0xa8,umask=1,cmask=1/
prints 'a raw event' '^0x5301c2 r1c2$' scripts/barecpc encode --cpu skl r1c2
prints 'a number with a privilege' '^0x48000011 0x11:u$' scripts/barecpc encode --cpu neoverse_n1 0x11:u
expect 'a pattern without a match' 1 'has no event with "xyzzy" in it' scripts/barecpc list --cpu skl xyzzy
{ scripts/barecpc list --cpu skl; echo $? >"$tap_dir/status"; } | head -n 1 >"$out"
check 'a list to a closed pipe ends by SIGPIPE' grep -qx 141 "$tap_dir/status"

prints "one of PAPI's presets" '^0x530151 skl::L1D:REPLACEMENT:k=1:u=1' scripts/barecpc encode --cpu skl PAPI_l1_dcm
prints 'a preset of the architecture, in any case' '^0x5300c5 skl::BR_MISP_RETIRED:ALL_BRANCHES:k=1:u=1' \
	scripts/barecpc encode --cpu skl papi_BR_MSP
prints 'presets are listed, each with its event' '^PAPI_l2_tcm  *L2_CACHE_MISS:INSTRUCTIONS:DATA$' \
	scripts/barecpc list --cpu fam10h_barcelona PAPI_l2
expect 'a preset of several events, with these events' 1 \
	'^encode: PAPI_l1_tcm: PAPI derives PAPI_l1_tcm on skl from L1D:REPLACEMENT and L2_RQSTS:ALL_CODE_RD: ask for these$' \
	scripts/barecpc encode --cpu skl PAPI_l1_tcm
expect 'a preset of a different event, with the reason' 1 \
	'^encode: PAPI_br_ins: PAPI maps PAPI_br_ins on arm_ac53 to BRANCH_PRED, which counts what is executed, retired or not: ' \
	scripts/barecpc encode --cpu arm_ac53 PAPI_br_ins
expect 'a preset that PAPI lacks' 1 '^encode: PAPI_l1_dcr: PAPI has no PAPI_l1_dcr on icl: .list PAPI_. has those there are$' \
	scripts/barecpc encode --cpu icl PAPI_l1_dcr
expect 'a misspelt preset' 1 '^encode: PAPI_l1_dxm: did you mean PAPI_l1_dcm[?]$' \
	scripts/barecpc encode --cpu skl PAPI_l1_dxm

# image ARCH program...
image() {
	arch=$1
	shift
	scripts/barecpc run --accel tcg --arch "$arch" -- "$@"
}
prints 'the image encodes for another CPU' '^0x5100c0 amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:k=0:u=1' \
	image x86_64 encode --cpu fam17h_zen2 retired_instructions:u
prints 'the image of arm64, too' '^0x8000011 arm_n1::CPU_CYCLES' image arm64 encode --cpu arm_n1 cpu_cycles
prints 'a CPU without a table lists the names of its backend' '^sw_incr  *\[Architected event\] 0x0$' image arm64 list
prints 'a list with matching presets' '^PAPI_tot_ins  *\[Architected event\] 0x8$' image arm64 list papi_tot
check 'it has nothing else' test "$(grep -c '^[^P]' "$out")" = 0
expect 'a pattern without a match there' 1 '^list: this CPU has no event with "xyzzy" in it$' image arm64 list xyzzy
prints 'events that fit, with their PICs' '^INST_RETIRED:ANY_P  *PIC 1 ' image x86_64 fits BR_INST_RETIRED:ALL_BRANCHES,INST_RETIRED:ANY_P
prints 'a preset that fits' '^PAPI_br_ins  *PIC 0 ' image x86_64 fits PAPI_br_ins
expect 'an event that the emulator does not model' 1 \
	'^fits: 1 event does not fit on 11 PICs: Hardware resource unavailable: request 0: this emulator does not model event 0x151$' \
	image x86_64 fits L1D:REPLACEMENT
expect 'an event that CPUID lists as absent' 1 'request 0: CPUID[.]0AH:EBX.6. says that event 0xc5 is absent$' \
	image x86_64 fits branch-misses
prints 'a preset that the image encodes' '^0x8000072 arm_a64fx::LDST_SPEC' image arm64 encode --cpu a64fx PAPI_lst_ins
expect 'a preset that does not fit' 1 '^fits: PAPI_l1_tcm: Unknown event: PAPI derives PAPI_l1_tcm on .* from .*: ask for these$' \
	image x86_64 fits PAPI_l1_tcm
expect 'events that do not fit, with the reason' 1 \
	'^fits: 2 events do not fit on 11 PICs: Hardware resource unavailable: requests 0-1 can be on PIC 8 alone$' \
	image x86_64 fits instr_retired.any,instr_retired.any
twelve=cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles
expect "perf's names that do not fit" 1 '^fits: 12 events do not fit on 11 PICs$' image x86_64 fits $twelve
expect 'the ones that do not fit' 1 '^fits: 10 events do not fit on 11 PICs: Hardware resource unavailable: requests ' image x86_64 fits "${twelve#*,*,}"
expect 'an event that needs an absent MSR' 1 \
	'^fits: 1 event does not fit on 11 PICs: Hardware resource unavailable: request 0: this CPU lacks MSR_OFFCORE_RSP_0 \(0x1a6\)$' \
	scripts/barecpc run --accel tcg --arch x86_64 --cpu "$(scripts/qemu-pmu --cpu intel-v5),family=6,model=86" -- fits cpu/event=0xb7,umask=1,offcore_rsp=0x10002/
expect 'an unknown event is one line' 1 "^fits: no_such: Unknown event: 'list' prints the events of this CPU\$" image x86_64 fits no_such
check 'it is one line' test "$(grep -c 'Unknown event' "$err")" = 1
expect 'an unknown event with a suggestion' 1 '^fits: INST_RETIERD: Unknown event: did you mean INST_RETIRED[?]$' image x86_64 fits INST_RETIERD
prints 'a raw event with commas' '^cpu/event=0x3c,umask=0x1/k  *PIC 0  0x13c$' image x86_64 fits cpu/event=0x3c,umask=0x1/k,rc0
prints 'a raw event with commas in cputrack' '^ +[0-9.]+ +1 +exit +[1-9][0-9]+ *$' \
	image x86_64 cputrack -T 0 -c cpu/event=0xc0,umask=0/ encode --cpu skl r1c0
prints "Arm's name in capitals, on a CPU without a table" '^CPU_CYCLES  *PIC [0-9]+  0x11$' image arm64 fits CPU_CYCLES
prints "perf's names have the PICs of their events" '^ref-cycles  *PIC 10  ' image x86_64 fits cycles,branches:k,ref-cycles
expect 'a name of perf without an event' 1 "^fits: ref-cycles: this PMU has no event for perf's name" image arm64 fits ref-cycles
expect 'list --cpu without a name' 2 '^list: --cpu: needs an argument$' image arm64 list --cpu
expect 'two patterns' 2 '^list: ins: give only one pattern$' image arm64 list cyc ins
expect 'nothing to encode' 2 '^encode: no event to encode$' image arm64 encode
expect 'an event for a CPU without a table' 2 \
	"^encode: no table of this CPU's events: choose one with --cpu NAME; known are: .* arm_n1" image arm64 encode INST_RETIRED
prints 'fits for another CPU, in the image' '^UNHALTED_REFERENCE_CYCLES +PIC 10 \(fixed 2\)  0x530300$' \
	image x86_64 fits --cpu skl UNHALTED_REFERENCE_CYCLES
expect 'fits names an erratum' 0 '^MEM_UOPS_RETIRED:ALL_LOADS: erratum HSD29, HSM30: ' \
	scripts/barecpc fits --cpu hsw MEM_UOPS_RETIRED:ALL_LOADS

# A canonical name is accepted as a name.
full=$(scripts/barecpc encode --cpu skl INST_RETIRED:ANY_P:c=2:i:u)
prints 'the printed name is accepted' "^$full\$" scripts/barecpc encode --cpu skl "${full#* }"

# fits CPU EVENTS: run fits on the build machine.
fits() {
	scripts/barecpc fits --cpu "$1" "$2"
}
expect 'a preset of another event' 1 '^fits: PAPI_l1_icm: PAPI maps PAPI_l1_icm on skl to L2_RQSTS:ALL_CODE_RD, which is of another level of cache: ' \
	fits skl PAPI_l1_icm
# An event moves from a general PIC to a fixed one only if another event needs the general PIC.  With a modifier it cannot.
ins=INSTRUCTION_RETIRED eight=
for n in 1 2 3 4 5 6 7 8; do eight=$eight${eight:+,}INSTRUCTION_RETIRED:c=$n; done
prints 'a fixed PIC frees a general one' "^$ins  *PIC 8 \(fixed 0\)  0x5300c0\$" \
	fits skl $ins,$eight
prints 'presets have the PICs of their events' '^PAPI_tot_ins  *PIC 8 \(fixed 0\)  0x5300c0$' \
	fits skl PAPI_tot_ins,$eight
prints 'otherwise the fixed PIC is not used' "^$ins  *PIC 0  0x5300c0\$" fits skl $ins,$ins:c=1
expect 'too few PICs' 1 \
	'^fits: 3 events do not fit on the 8 general and 3 fixed PICs of snb: L1D_PEND_MISS:PENDING, L1D_PEND_MISS:PENDING can be on PIC 2 alone$' \
	fits snb $ins,L1D_PEND_MISS:PENDING,L1D_PEND_MISS:PENDING
expect 'two values for one extra MSR' 1 '^fits: MSR_OFFCORE_RSP_0 would have to be 0x10001 for .*DATA_RD and 0x10002 for .*RFO$' \
	fits skl OFFCORE_RESPONSE_0:DMND_RFO,OFFCORE_RESPONSE_0:DMND_DATA_RD
prints 'one value for two events' '^OFFCORE_RESPONSE_0:DMND_RFO +PIC 1  ' \
	fits skl OFFCORE_RESPONSE_0:DMND_RFO,OFFCORE_RESPONSE_0:DMND_RFO
prints 'a raw event has general PICs' '^0xc0 +PIC 1  0x5300c0$' fits skl $ins,0xc0
prints 'a raw event with commas, too' '^cpu/event=0xc4,umask=0x1/k +PIC 1  0x5201c4$' fits skl $ins,cpu/event=0xc4,umask=0x1/k
expect 'a comma at the end' 1 '^fits: an event without a name$' fits skl $ins,
prints 'a number has general PICs alone' '^0xc0 +PIC [0-3]  ' fits snb 0xc0
expect 'a number takes no fixed PIC' 1 '^fits: ' fits snb 0xc0,INSTRUCTION_RETIRED:c=1,INSTRUCTION_RETIRED:c=2,INSTRUCTION_RETIRED:c=3,INSTRUCTION_RETIRED:c=4,INSTRUCTION_RETIRED:c=5,INSTRUCTION_RETIRED:c=6,INSTRUCTION_RETIRED:c=7,INSTRUCTION_RETIRED:c=8
prints "a name of AMD's with unit masks, alone" '^0x53ff94 ' scripts/barecpc encode --cpu amd64_fam17h_zen2 BP_L1_TLB_FETCH_HIT
prints "perf's references of a Zen" '^0x53ff60 ' scripts/barecpc encode --cpu amd64_fam17h_zen1 cache-references
prints "perf's misses of a Zen" '^0x530964 ' scripts/barecpc encode --cpu amd64_fam1ah_zen6 cache-misses
prints "PICs of AMD's family 15h" '^DISPATCHED_FPU_OPS:OPS_PIPE0  *PIC 3  ' fits amd64_fam15h_interlagos DISPATCHED_FPU_OPS:OPS_PIPE0
prints 'PICs of Arm' '^CPU_CYCLES  *PIC 1  0x8000011$' fits neoverse_n1 INST_RETIRED,CPU_CYCLES
expect 'more events than PICs' 1 '^fits: amd64_k7 has only 4 PICs$' \
	fits amd64_k7 CPU_CLK_UNHALTED,CPU_CLK_UNHALTED,CPU_CLK_UNHALTED,CPU_CLK_UNHALTED,CPU_CLK_UNHALTED
expect 'a name that does not exist' 1 '^fits: INST_RETIERD: no such event; did you mean INST_RETIRED[?]$' fits skl INST_RETIERD
expect 'a PMU without PIC masks' 2 '^fits: netburst: cannot tell: its events also compete for ESCRs: see docs/events[.]md$' fits netburst TC_DELIVER_MODE
expect 'no CPU is named' 2 '^fits: on which CPU[?] --cpu NAME$' scripts/barecpc fits INST_RETIRED
expect 'events without commas' 2 '^fits: cycles: put all events into one list, with commas$' scripts/barecpc fits --cpu skl instructions cycles

# no_names ARCH FILE: without its archive the kernel contains no names of events, and is small.
no_names() {
	python3 - "build/$1/$2" "build/$1/archive.cpio" <<-'END'
		import sys
		image, archive = (open(path, "rb").read() for path in sys.argv[1:])
		kernel = image.replace(archive, b"")
		print(f"{len(kernel)} bytes of kernel, {len(archive)} of archive")
		assert len(kernel) == len(image) - len(archive), "the archive is not in the image"
		for name in (b"INST_RETIRED", b"CPU_CYCLES", b"br_inst_retired", b"PAPI_", b"l1d_cache", b"LsNotHaltedCyc"):
		    assert name not in kernel, name
		assert len(kernel) < 600_000
	END
}
check "x86-64's kernel has no names of events" no_names x86_64 kernel.bin
check "arm64's kernel has no names of events" no_names arm64 Image

# An invalid table causes one line, and codes still work.  The archive of --payload hides the image's table.
mkdir -p "$tap_dir/bad/events"
damaged() { # COMMAND: makes a table from standard input
	sh -c "$1" <build/events/intel >"$tap_dir/bad/events/intel"
	scripts/mkcpio -o "$tap_dir/bad.cpio" --in events "$tap_dir/bad/events/intel" payloads/suite
}
bad() {
	scripts/barecpc run --accel tcg --arch x86_64 --payload "$tap_dir/bad.cpio" -- "$@"
}
damaged 'head -c 20480'
expect 'a truncated table' 1 '^fits: L1D:REPLACEMENT: Unknown event: /events/intel is truncated: raw codes' bad fits L1D:REPLACEMENT
damaged "sed 's/INST_RETIRED/INST_RETIRES/'"
expect 'a damaged table' 1 '^fits: L1D:REPLACEMENT: Unknown event: /events/intel is damaged: raw codes' bad fits L1D:REPLACEMENT
check 'the reason is one line' test "$(grep -c damaged "$err")" = 1
prints 'raw codes and architected events work' '^inst_retired.any_p +PIC 1 ' bad fits r0c0,inst_retired.any_p
expect 'a CPU without a table' 1 \
	'^fits: L1D:REPLACEMENT: Unknown event: no table of events exists for this CPU .family 0x6, model 0xff.: raw codes' \
	scripts/barecpc run --accel tcg --arch x86_64 --cpu "$(scripts/qemu-pmu --cpu intel-v5),family=6,model=255" -- fits L1D:REPLACEMENT

# Images without some of the tables, linked from the same objects.
tree=$tap_dir/tree
mkdir -p "$tree/build" "$tree/tests"
cp -r scripts "$tree/scripts"
cp VERSION "$tree"
cp -r qemu "$tree/qemu" # its files identify the emulator
cp -a build/x86_64 "$tree/build/x86_64"
without() { # EVENTS
	check "make EVENTS='$1'" make -s ARCH=x86_64 B="$tree/build/x86_64" EVENTS="$1" "$tree/build/x86_64/kernel.elf"
	cpio -t --quiet <"$tree/build/x86_64/archive.cpio" 2>"$err" | sed -n 's,^events/,,p' >"$out"
	check "has exactly these tables: '$1'" test "$(sort "$out" | xargs)" = "$1"
}
alone() { # OPTIONS... -- PROGRAM...
	BARECPC_BUILD=no "$tree/scripts/barecpc" run --accel tcg --arch x86_64 "$@"
}
# stat refuses a name that this CPU lacks; the benchmarks report it in its row.
both='triad -n -r 1 -w 0 -e PAPI_tot_ins,INST_RETIRED:ANY_P,RETIRED_INSTRUCTIONS 64'
# counted NAME N COMMAND...: N of the three rows have a count.
counted() {
	tap_name=$1 tap_want=$2
	shift 2
	"$@" >"$out" 2>"$err" </dev/null
	check "$tap_name" test "$(grep -cE '^triad/64 +[^ ]+ +[1-9]' "$out")" = "$tap_want"
}
without 'amd'
counted 'on AMD names of its table count' 2 alone --cpu amd-v2 -- $both
counted "on Intel's CPU the architected names count" 1 alone -- $both
expect 'a preset without its table' 1 \
	'^fits: PAPI_br_cn: Unknown event: /events/intel is not in this image: raw codes .r1c0, 0xc0. and architected events work' \
	alone -- fits PAPI_br_cn
prints "AMD's presets resolve" '^0x530040 amd64_fam17h_zen1::DATA_CACHE_ACCESSES:' alone --cpu amd-legacy -- encode PAPI_l1_dca
prints 'names of the vendor resolve on another CPU' '^0x5100c0 amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:k=0:u=1' \
	alone -- encode --cpu fam17h_zen2 retired_instructions:u
without 'amd arm intel'
prints "names of another architecture" '^0x8000011 arm_n1::CPU_CYCLES' alone -- encode --cpu neoverse_n1 cpu_cycles
without 'intel'
counted "Intel's table only" 2 alone -- $both
without ''
counted 'no tables: the architecture counts' 1 alone -- $both
expect 'no CPU is known' 2 '^list: skl: no such CPU; none is known: this image was made with EVENTS=$' alone -- list --cpu skl
expect 'no such vendor' 2 'EVENTS=via: known are intel amd arm' make ARCH=x86_64 EVENTS=via
end
