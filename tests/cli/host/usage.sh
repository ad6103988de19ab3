#!/bin/sh
# Every program of the image and every script has --help.
# A mistake on the command line gives one line that names the program and the word, and status 2.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# boots NAME STATUS: run the lines of $tap_dir/suite, one program after the other, in one boot.
boots() {
	scripts/mkcpio -o "$tap_dir/suite.cpio" "$tap_dir/suite"
	expect "$1" "$2" '^barecpc: exit' scripts/barecpc run --arch arm64 --accel tcg --payload "$tap_dir/suite.cpio"
}

[ "${BARECPC_BUILD-}" = no ] || make -s ARCH=arm64 >&2
programs=$(cpio -t --quiet <build/arm64/archive.cpio | grep -vE '^suite$|/')
for p in $programs; do
	printf '%s -h\n%s --help\n' "$p" "$p"
done >"$tap_dir/suite"
boots 'all programs with -h and --help' 0
for p in $programs; do
	check "$p prints its usage" test "$(grep -cE "^usage: $p( |\$)" "$out")" = 2
done

for p in $programs; do
	printf '%s -q\n%s --nope\n' "$p" "$p"
done >"$tap_dir/suite"
boots 'all programs with unknown options' 2
for p in $programs; do
	check "$p names the option" test "$(grep -cE "^$p: (-q|--nope): no such option\$" "$err")" = 2
	check "$p then prints its usage" test "$(grep -cE "^usage: $p( |\$)" "$err")" = 2
	check "$p ends with 2" test "$(grep -cx "barecpc: $p: exit 2" "$err")" = 2
done

# mistake LINE WORDS: these words cause this line.  One boot runs all mistakes.
: >"$tap_dir/suite"
mistake() {
	echo "$2" >>"$tap_dir/suite"
	printf '%s\t%s\n' "$2" "$1" >>"$tap_dir/lines"
}
mistake 'triad: elements: not a number: ""' 'triad ""'
mistake 'triad: elements: 99999999999999999999 is not within 1\.\.67108864' 'triad 99999999999999999999'
mistake 'triad: elements: 16777216g is not within 1\.\.67108864' 'triad 16777216g'
mistake 'triad: elements: not a number: "1kk"' 'triad 1kk'
mistake 'triad: -e: an event without a name' 'triad -e ""'
mistake 'chase: -r: not a number: " -1"' 'chase -r " -1"'
mistake 'record: -c: "100k": give a number without a suffix' 'record -c 100k spin'
mistake 'record: -c: not a number: "1e6"' 'record -c 1e6 spin'
mistake 'record: -c: not a number: ""' 'record -c "" spin'
mistake 'record: -c: needs an argument' 'record -c'
mistake 'record: -e: give only one event' 'record -e PAPI_tot_ins,PAPI_tot_cyc spin'
mistake 'record: -e: give only one event' 'record -e PAPI_tot_ins -e PAPI_tot_cyc spin'
mistake 'record: -e: an event without a name' 'record -e "" spin'
mistake 'stat: -r: "1K": give a number without a suffix' 'stat -r 1K spin'
mistake 'stat: -r: 18446744073709551616 is not within 1\.\.1000' 'stat -r 18446744073709551616 spin'
mistake 'stat: -x: give a separator that is not empty' 'stat -x "" spin'
mistake 'stat: --timeout: "1k": give a number without a suffix' 'stat --timeout 1k spin'
mistake 'vpmu: x: takes no argument' 'vpmu x'
mistake 'vpmu: -r: 0 is not within 1\.\.100000' 'vpmu -r 0'
mistake 'opcost: nothing: no such table' 'opcost nothing'
mistake 'opcost: assign: give only one table' 'opcost flat assign'
mistake 'example2: x: takes no argument' 'example2 x'
mistake 'list: b: give only one pattern' 'list a b'
mistake 'encode: no event to encode' 'encode'
mistake 'encode: --cpu: needs an argument' 'encode --cpu'
mistake 'fits: b: put all events into one list, with commas' 'fits a b'
boots 'mistakes' 2
check 'each has status 2' test "$(grep -c '^barecpc: .*: exit 2$' "$err")" = "$(wc -l <"$tap_dir/suite")"
while IFS='	' read -r words line; do
	check "$words" grep -qE "^$line\$" "$err"
done <"$tap_dir/lines"

# tells SCRIPT [command]: --help prints the usage, with the script's name, and nothing on standard error.
tells() {
	"$@" --help >"$out" 2>"$err" </dev/null && grep -q "${1##*/}" "$out" && [ ! -s "$err" ]
}

# scripts/barecpc ends with the status of its program, so a mistake has another status (tests/cli/host/host.sh).
for s in $(git ls-files scripts | grep -vE '/.*/|/barecpc$|\.c$'); do
	name=${s##*/}
	check "$name prints its usage" tells "$s"
	wrong=2
	case $name in barecpc-cc | barecpc-c++) wrong=1 ;; esac # it passes an unknown option to gcc
	expect "$name: an unknown option" $wrong '--nonsense|arguments are required' "$s" --nonsense
done
check 'barecpc prints its usage' tells scripts/barecpc
for command in run disk read encode list fits arch probe compare export nb stat record report annotate sweep collect report-machine; do
	check "barecpc $command prints its usage" tells scripts/barecpc $command
	files=
	[ $command != compare ] || files='A B'
	[ $command != export ] || files='--to csv A'
	case $command in sweep | collect | report-machine) files=A ;; disk) files='--for raw -o A' ;; esac
	# shellcheck disable=SC2086 # some words, or none
	expect "barecpc $command: an unknown option" 125 '^host: .*--nonsense.*; see barecpc' scripts/barecpc $command $files --nonsense
done
# Commands of users have --version.  The compilers first print that of the compiler, which build systems read.
version=$(scripts/barecpc --version)
check 'the version begins with the number' sh -c "echo '$version' | grep -qF \"barecpc $(cat VERSION), \""
for s in barecpc-cc barecpc-c++ mkcpio mkdisk setup qemu-pmu; do
	check "$s --version" sh -c "scripts/$s --version | tail -n 1 | grep -qxF '$version'"
done
check 'barecpc-cc --version begins with the compiler' sh -c "scripts/barecpc-cc --version | head -n 1 | grep -q gcc"
expect 'a CPU without a name' 2 '^encode: : no such CPU; known are: ' scripts/barecpc encode --cpu '' X
expect 'nothing to compile' 2 '^barecpc-cc: no file to compile ' scripts/barecpc-cc
for option in efi cfg archive; do
	expect "mkdisk: --$option: no such file" 1 '^mkdisk: /proc/none: no such file$' scripts/mkdisk --$option /proc/none "$tap_dir/x.img"
done
mkfifo "$tap_dir/device"
expect 'mkdisk: a device is not replaced' 1 "^mkdisk: $tap_dir/device: not a file: name a new file, then write that to a stick with dd$" \
	scripts/mkdisk "$tap_dir/device"
# The command in its middle sends it a signal.
fake_command mformat <<'END'
kill -TERM $PPID
END
mkdir "$tap_dir/tmp"
env PATH="$tap_dir/bin:$PATH" TMPDIR="$tap_dir/tmp" scripts/mkdisk "$tap_dir/x.img"
check 'mkdisk: a signal ends it and leaves no file' test "$? $(ls -A "$tap_dir/tmp")" = '143 '
rm "$tap_dir/bin/mformat"
expect 'mkdisk: no such folder' 1 "^mkdisk: $tap_dir/none: no such folder$" scripts/mkdisk "$tap_dir/none/x.img"
expect 'a file that does not exist' 1 '^mkcpio: /proc/none: No such file or directory$' scripts/mkcpio -o "$tap_dir/x" /proc/none
fake_command unshare <<'END'
echo 'unshare: unshare failed: Operation not permitted' >&2
exit 1
END
env PATH="$tap_dir/bin:$PATH" PYTHONPATH=tests/cli/lib python3 -B -c 'import own_network; own_network.enter()' >"$out" 2>&1
check 'a test that needs network namespaces is skipped without them' \
	grep -qx 'ok 1 - a network of its own # SKIP unshare: unshare failed: Operation not permitted' "$out"
fake_command sbsign <<END
exit 1
END
mkdir "$tap_dir/temporary"
expect 'sign: a key that is refused' 1 "^sign: $tap_dir/a.key: cannot be signed with $tap_dir/a.key$" \
	env PATH="$tap_dir/bin:$PATH" TMPDIR="$tap_dir/temporary" sh -c "touch '$tap_dir/a.key' &&
	scripts/sign '$tap_dir/a.key' '$tap_dir/a.key' '$tap_dir/a.key'"
check 'sign: it leaves no file' rmdir "$tap_dir/temporary"
expect 'a machine that QEMU refuses' 1 '^bootcost: QEMU booted nothing: see its message above$' scripts/dev/bootcost --cpu nonsense
end
