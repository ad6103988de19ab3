#!/bin/sh
# scripts/barecpc reports anything that a guest does by the right status and one clear line.  A fake QEMU plays the
# guests, so that every misbehaviour can be tested.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

fake_emulators
printf MZ >"$tap_dir/image" # mkdisk checks no more than this

# fake SCENE options...: a run with the fake QEMU.
fake() {
	scene=$1
	shift
	env PATH="$tap_dir/bin:$PATH" FAKE="$scene" FAKE_ARGS="$tap_dir/args" \
		scripts/barecpc run --arch arm64 --accel tcg --image "$tap_dir/image" "$@"
}

# scene NAME SCENE STATUS PATTERN [options...]
scene() {
	tap_name=$1
	tap_scene=$2
	tap_want=$3
	tap_pattern=$4
	shift 4
	fake "$tap_scene" "$@" >"$out" 2>"$err"
	tap_status=$?
	if [ "$tap_status" = "$tap_want" ] && tail -n 1 "$err" | grep -qE -e "$tap_pattern"; then
		ok "$tap_name"
	else
		not_ok "$tap_name" "status $tap_status (want $tap_want)
$(tail -n 5 "$err")"
	fi
}

scene 'frames are separated into streams' good 0 'barecpc: exit 0' --results "$tap_dir/results"
printf 'one\r\n\0\377BARECPC-END\nbarecpc: exit 9\n' >"$tap_dir/want"
check 'stdout is verbatim' cmp "$out" "$tap_dir/want"
echo '{"n":1}' >"$tap_dir/want"
check 'records are lines of the results' cmp "$tap_dir/results" "$tap_dir/want"
printf '%s\n' 'host: arm64, tcg: emulation has an exact PMUv3 (asked for)' firmware 'barecpc: fake' 'barecpc: between' \
	two 'barecpc: exit 0' >"$tap_dir/want"
check 'other text is on stderr, without control characters' cmp "$err" "$tap_dir/want"

scene 'the status is the program'\''s' exit3 3 'barecpc: exit 3'
scene 'a run that counted nothing has status 77' exit77 77 'host: ran, but counted nothing'
scene 'an exit number above 255 is an error' exit300 125 'closed with exit 300'
scene 'a run that passed powers off' off0 0 'barecpc: exit 0'
scene "QEMU's warning about a stopped CPU is not shown" switched-off 0 '^barecpc: exit 0$'
scene 'a reset after exit 0 is a failure' reset0 125 'exit 0, but was reset$'
scene 'a power-off after another exit is a failure' off3 125 'exit 3, but was powered off$'
scene 'a stop for another reason is a failure' error0 125 'exit 0, but stopped .QEMU status 0.$'
scene 'isa-debug-exit ends a run that passed' passed0 0 'barecpc: exit 0'
scene 'isa-debug-exit ends a run that failed' failed3 3 'barecpc: exit 3'
scene 'isa-debug-exit and a reset end a run that failed' failed3-reset 3 'barecpc: exit 3'
scene 'isa-debug-exit and the closing line must agree' mismatch 125 'exit 0, but stopped .QEMU status 35.$'
scene 'status 0 of QEMU alone is not a success' zero 125 'exit 0, but stopped .QEMU status 0.$'
scene 'a reset is a failure' reset 125 'was reset before its closing line; the last line was: barecpc: fake'
scene 'a power-off is a failure' off 125 'was powered off before its closing line; the last line was: barecpc: fake'
scene 'a stop without the closing line is a failure' stopped 125 'stopped .* the last line was: panic: at the disco'
scene 'a guest without output' silent 125 'silent: it stands still for 1 s, nothing on the console; PC 0x80' --silence 1
scene 'a guest without output, with --silence 0' silent 124 'timed out after 2 s; PC 0x80; nothing on the console' --silence 0 --timeout 2
scene 'a guest that is slow, but advances' slow 0 'barecpc: exit 0' --silence 1
scene 'a guest that advances, without output' busy 124 'timed out after 3 s; PC 0x40.*; nothing on the console' --silence 1 --timeout 3
# The fake says its line in a tenth of a second: a busy machine may take a hundred times as long.
scene 'a guest that stops its output' hung 124 'timed out after 10 s; PC 0x80; the last line was: mem: 256 MiB' --timeout 10
scene 'a guest that does not power off' lingers 125 'does not power off' --timeout 10
scene 'QEMU refuses' refused 125 "QEMU failed \(status 1\): .* unable to find CPU model 'nonsense'"
scene 'QEMU refuses with advice' advised 125 "QEMU failed \(status 1\): .* Invalid gic-version value"
scene 'QEMU is killed' killed 125 'killed by SIGKILL'
scene 'an endless log' flood 125 'looping'
scene 'KVM gives up and leaves QEMU paused' kvm 125 'KVM cannot run this guest' --timeout 20
scene 'a frame cut short' cut 125 'console ended inside frame 1 \(stdout, 100 bytes\)$'
check 'its contents are shown' grep -q 'panic: inside a frame' "$err"
scene 'a frame longer than its length' longer 125 'damaged: lost frames: 1 of 2 \(1\)$'
check 'it is named' grep -qxF 'host: frame 1 (stdout, 3 bytes) arrived damaged' "$err"
scene 'a damaged frame' damaged 125 'damaged: lost frames: 1 of 2 \(1\)$'
check 'it is not printed' cmp "$out" /dev/null
scene 'a closing line without its frame' forged 125 'was powered off before its closing line'
scene 'a record that is not JSON' no_json 125 'a record is not valid' --results "$tap_dir/results"
scene 'a record nested without end' deep_json 125 'a record is not valid' --results "$tap_dir/results"
for kind in no odd deep; do
	scene "$kind stacks in a record" ${kind}_stacks 125 'a record is not valid' --flamegraph "$tap_dir/graph"
done
scene 'a record of two lines' long_json 0 'barecpc: exit 0' --results "$tap_dir/results"
check 'it is stored as one line' test "$(cat "$tap_dir/results")" = '{"a": 1}'

# The terminal is closed.
mkdir "$tap_dir/tmp"
TMPDIR=$tap_dir/tmp FAKE=hung scripts/barecpc run --arch arm64 --accel tcg --image "$tap_dir/image" \
	--qemu tests/cli/lib/fake-qemu >/dev/null 2>"$err" &
until grep -q 'mem:' "$err"; do sleep 0.1; done
kill -HUP $!
wait $!
check 'SIGHUP leaves no temporary files' rmdir "$tap_dir/tmp"

# The command line.
fake good --qemu stock --smp 2 --mem 64M --cpu cortex-a72 --machine gic-version=2,virtualization=on --append 'priv=system' \
	--env A=1 --env 'B=x y' -- prog 'a b' 'c"d\e' '' >/dev/null 2>&1
check 'words are quoted for the kernel' grep -qxF \
	'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid priv=system env.A=1 "env.B=x y" -- prog "a b" "c\"d\\e" ""' "$tap_dir/args"
check 'the machine keeps its defaults' grep -qx 'virt,gic-version=2,dtb-randomness=off,virtualization=on' "$tap_dir/args"
check 'the clock of arm64 ticks once an instruction' grep -qx 'cortex-a72,cntfrq=1000000000' "$tap_dir/args"
check 'runs are deterministic' grep -qx 'shift=0,sleep=off' "$tap_dir/args"
fake good --qemu stock --smp 4,cores=2,threads=2 >/dev/null 2>&1
check 'a topology of --smp is passed unchanged' grep -qx '4,cores=2,threads=2' "$tap_dir/args"
fake good -- prog "$(printf 'a\rb')" "$(printf 'c\fd\ve')" >/dev/null 2>&1
check 'all blanks of the kernel are quoted' grep -qxF \
	"$(printf 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid -- prog "a\rb" "c\fd\ve"')" "$tap_dir/args"

# The guest cannot reach the host.
arguments() {
	grep -qx -e "$1" "$tap_dir/args"
}
check 'no semihosting' sh -c "! grep -i semihosting '$tap_dir/args'"
check 'no network' arguments none
check 'a sandbox' arguments 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'
for arch in arm64 x86_64; do
	FAKE=good FAKE_ARGS=$tap_dir/args scripts/barecpc run --arch $arch --accel tcg --image "$tap_dir/image" --boot uefi \
		--qemu tests/cli/lib/fake-qemu >/dev/null 2>&1
	check "$arch: no disk to write" arguments 'format=raw,file=.*,readonly=on'
done
cp tests/cli/lib/fake-qemu "$tap_dir/bare-qemu"
NO_SANDBOX=1 fake good --qemu "$tap_dir/bare-qemu" >/dev/null 2>"$err"
check 'an emulator without a sandbox is named' grep -q '^host: this QEMU has no sandbox' "$err"

# Contents of barecpc.cfg.
scene 'an argument need not be UTF-8' good 0 'barecpc: exit 0' --boot uefi -- prog "$(printf '\377')"
scene 'a word of two lines' good 125 '^host: a word of several lines: barecpc.cfg' --boot uefi -- prog 'a
b'

# Errors before a guest exists.
scene 'no such payload' good 125 "^host: --payload $tap_dir/none: No such file or directory: name a program, " --payload "$tap_dir/none"
echo garbage >"$tap_dir/garbage"
: >"$tap_dir/empty"
scene 'an empty file is a payload' good 0 'barecpc: exit 0' --payload "$tap_dir/empty" -- prog
scripts/mkcpio -o "$tap_dir/a.cpio" "$tap_dir/garbage"
cp "$tap_dir/garbage" "$tap_dir/garbage.cpio"
scene 'a damaged archive' good 125 'garbage.cpio: a damaged cpio .newc. archive' --payload "$tap_dir/garbage.cpio" --payload "$tap_dir/a.cpio"
scene 'the same name twice' good 125 'is there twice' --payload "$tap_dir/a.cpio" --payload "$tap_dir/a.cpio"

# The program that runs by default.
printf '\177ELF' >"$tap_dir/prog"
cp "$tap_dir/prog" "$tap_dir/prog2"
echo prog >"$tap_dir/suite"
scripts/mkcpio -o "$tap_dir/suite.cpio" "$tap_dir/suite" "$tap_dir/prog"
scripts/mkcpio -o "$tap_dir/prog.cpio" "$tap_dir/prog"
# runs NAME LINE [options...]: the kernel gets this command line.
runs() {
	tap_name=$1
	tap_line=$2
	shift 2
	fake good "$@" >/dev/null 2>&1
	check "$tap_name" grep -qxF -e "$tap_line" "$tap_dir/args"
}
runs 'the only program runs' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid -- prog' --payload "$tap_dir/prog"
runs 'also next to an archive' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid -- prog' --payload "$tap_dir/prog" --payload "$tap_dir/a.cpio"
runs 'a named program runs instead' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid -- spin' --payload "$tap_dir/prog" -- spin
runs 'also if --append names it' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid -- spin' --payload "$tap_dir/prog" --append '-- spin'
runs 'the suite of an archive runs' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid' --payload "$tap_dir/suite.cpio"
runs 'also next to a program' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid' --payload "$tap_dir/suite.cpio" --payload "$tap_dir/prog2"
mkdir "$tap_dir/folder"
cp "$tap_dir/prog" "$tap_dir/prog2" "$tap_dir/folder"
printf 'prog prog2 | spin\n prog2\nspin & prog2 1\n' >"$tap_dir/folder/suite"
runs 'the suite of a folder runs' 'output=framed host.clock=virtual host.icount_shift=0 host.accel=tcg models=pmceid' --payload "$tap_dir/folder"
check 'its programs are those of the folder, or of the image' env PYTHONPATH=scripts python3 -B - "$tap_dir/folder" <<-'PY'
	import pathlib, sys
	from host.emulator import qemu
	folder = pathlib.Path(sys.argv[1])
	suite = qemu.suite_of(qemu.members_of(folder), "folder")["suite"]
	assert suite == b"folder/prog prog2 | spin\n folder/prog2\nspin & folder/prog2 1\n", suite
PY
scene 'one of two programs' good 125 'prog2: 2 programs: name the program to run after --$' --payload "$tap_dir/prog" --payload "$tap_dir/prog2"
scene 'an archive without a suite' good 125 'prog.cpio: no program and no .suite.: name the program to run after --$' --payload "$tap_dir/prog.cpio"

fake good --folded "$tap_dir/folded" >/dev/null 2>"$err"
check 'no stacks to write' grep -qx 'host: no stacks for --folded or --flamegraph: run a program under .record.' "$err"
scene 'a results file that cannot be written' good 125 '^host: /proc/results: ' --results /proc/results
expect 'an image that does not exist' 125 '^host: /none: no such image' scripts/barecpc run --arch arm64 --accel tcg --image /none
expect 'another emulator' 0 "^host: arm64, tcg: tests/cli/lib/fake-qemu, asked for" env FAKE=good \
	scripts/barecpc run --arch arm64 --accel tcg --image "$tap_dir/image" --qemu tests/cli/lib/fake-qemu
expect 'no such emulator' 125 '^host: /none: no such program' scripts/barecpc run --arch arm64 --accel tcg --image "$tap_dir/image" --qemu /none
expect 'no such option' 125 '^host: unrecognized arguments: --nonsense' scripts/barecpc run --nonsense
expect 'a program before --' 125 '^host: unrecognized arguments: spin; the program follows --; see barecpc run --help$' \
	scripts/barecpc run --arch arm64 spin
for option in payload results folded flamegraph image; do
	expect "--$option nothing" 125 "^host: argument --$option: give a file's name, not an empty word; see" scripts/barecpc run --$option ''
done
expect 'no such architecture' 125 "^host: argument --arch: vax: no such architecture: give arm64 or x86_64; see" scripts/barecpc run --arch vax
expect 'a bad environment' 125 '^host: --env nonsense: not NAME=VALUE' scripts/barecpc run --env nonsense
expect 'a bad time' 125 '^host: --timeout nan: not a time' scripts/barecpc run --timeout nan
expect 'a time without end' 125 '^host: --timeout inf: not a time' scripts/barecpc run --timeout inf
expect 'a bad silence' 125 '^host: --silence -1: not a time' scripts/barecpc run --silence -1
expect 'no memory' 125 '^host: --mem 0: not a size' scripts/barecpc run --mem 0
expect 'a bad size' 125 '^host: --mem lots: not a size' scripts/barecpc run --mem lots
expect 'no CPU' 125 '^host: --smp 0: not a number of CPUs' scripts/barecpc run --smp 0
expect 'a bad topology' 125 '^host: --smp 2,legs=2: not a number of CPUs' scripts/barecpc run --smp 2,legs=2
expect 'KVM for another architecture' 125 "^host: KVM: not this machine's architecture" \
	scripts/barecpc run --arch "$([ "$(uname -m)" = x86_64 ] && echo arm64 || echo x86_64)" --accel kvm

# All programs except QEMU.
mkdir "$tap_dir/tools"
ln -s /usr/bin/* "$tap_dir/tools"
rm "$tap_dir"/tools/qemu-system-*
expect 'QEMU is missing' 125 '^host: qemu-system-aarch64: not found; run scripts/setup' \
	env PATH="$tap_dir/tools" scripts/barecpc run --arch arm64 --accel tcg
end
