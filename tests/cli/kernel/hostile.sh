#!/bin/sh
# Damaged, absurd or missing input to the kernel causes one line that says so, and status 125.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# line NAME PATTERN: the last run printed a matching line.
line() {
	if grep -qE -e "$2" "$err"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $2"
	fi
}

run() {
	scripts/barecpc run --accel tcg --append kernel_limit=350000 "$@"
}

scripts/barecpc-cc --arch arm64 -O2 -o "$tap_dir/hello" tests/cli/programs/hello.c
mkdir "$tap_dir/x86"
scripts/barecpc-cc --arch x86_64 -O2 -o "$tap_dir/x86/hello" tests/cli/programs/hello.c

# Malformed programs, all in one boot of each architecture.
kinds='magic truncated 32-bit foreign object dynamic overlap write-execute low kernel wrap beyond-file shrinks huge
	entry-outside entry-data table-outside empty loader far own'
for arch in arm64 x86_64; do
	mkdir "$tap_dir/$arch"
	for kind in $kinds; do
		tests/cli/lib/mkelf $arch "$kind" "$tap_dir/$arch/$kind"
		echo "$kind"
	done >"$tap_dir/$arch/suite"
	scripts/mkcpio -o "$tap_dir/$arch.cpio" "$tap_dir/$arch"/*
	expect "$arch: malformed programs" 125 '^barecpc: exit 125' run --arch $arch --payload "$tap_dir/$arch.cpio"
	line "$arch: bad magic" '^barecpc: magic: not an ELF file'
	line "$arch: truncated" '^barecpc: truncated: not an ELF file'
	line "$arch: 32-bit" '^barecpc: 32-bit: not a 64-bit'
	line "$arch: for another machine" '^barecpc: foreign: ELF file for another machine'
	line "$arch: an object file" '^barecpc: object: ELF file, but not an executable'
	line "$arch: no loader" '^barecpc: dynamic: a dynamic program, whose loader .* is not in the archives: add it and the libraries$'
	line "$arch: a loader far away" '^barecpc: far: .*/far is not in the archives: add it and the libraries$'
	line "$arch: a loader below /proc" '^barecpc: own: .*/proc/1/exe is not in the archives: add it and the libraries$'
	line "$arch: a bad loader" '^barecpc: loader: a dynamic program, whose loader cannot be loaded$'
	line "$arch: overlapping segments" '^barecpc: overlap: segment 1 overlaps'
	line "$arch: writable and executable" '^barecpc: write-execute: segment 0 is both writable and executable'
	line "$arch: at address 0" '^barecpc: low: segment 0 lies outside the user address space'
	line "$arch: in the kernel's half" '^barecpc: kernel: segment 1 lies outside the user address space'
	line "$arch: wrapping around" '^barecpc: wrap: segment 1 lies outside the user address space'
	line "$arch: beyond the file" '^barecpc: beyond-file: segment 1 lies outside the file'
	line "$arch: more file than memory" '^barecpc: shrinks: segment 1 is larger in the file than in memory'
	line "$arch: larger than memory" '^barecpc: huge: does not fit in memory'
	line "$arch: entry outside" '^barecpc: entry-outside: entry point outside every executable segment'
	line "$arch: entry in data" '^barecpc: entry-data: entry point outside every executable segment'
	line "$arch: headers outside" '^barecpc: table-outside: program headers outside the file'
	line "$arch: no segments" '^barecpc: empty: no program headers'
done

expect 'a misspelt program' 125 '^barecpc: matmull: no such program in the archives; did you mean matmul[?]$' run --arch arm64 -- matmull
expect 'an unknown program' 125 '^barecpc: frobnicate: no such program in the archives; there are .*opcost .*triad' \
	run --arch x86_64 -- frobnicate
# A name with a newline, of a program that faults, of one that is listed, and of an unknown one.
forged=$(printf 'x\nbarecpc: exit 0')
scripts/barecpc-cc --arch arm64 -O2 -o "$tap_dir/$forged" tests/cli/programs/kernel/fault.c
scripts/mkcpio -o "$tap_dir/forged.cpio" "$tap_dir/$forged"
expect 'a name with a newline is printed on one line' 139 '^barecpc: x[?]barecpc: exit 0: SIGSEGV at pc' \
	run --arch arm64 --payload "$tap_dir/forged.cpio" -- "$forged" read_null
check 'it cannot forge the closing line' [ "$(grep -c '^barecpc: exit' "$err")" = 1 ]
expect 'a list of programs is one line' 125 '^barecpc: frobnicate: no such .* x[?]barecpc: exit 0' \
	run --arch arm64 --payload "$tap_dir/forged.cpio" -- frobnicate
expect 'an unknown name is one line' 125 '^barecpc: y[?]barecpc: exit 0: no such program' \
	run --arch arm64 -- "$(printf 'y\nbarecpc: exit 0')"
# The memory that is free is as much as the line says: a program of 2 MiB less runs, of 1 MiB more does not.
of_size() { # MIB: makes and runs a program that needs so many MiB, 8 of them in a segment that fits
	echo 'const char full[8 << 20] = { 1 }; char room[(MIB - 8) << 20]; int main(int n) { return full[n] + room[n]; }' |
		scripts/barecpc-cc --arch arm64 -DMIB="$1"L -x c -o "$tap_dir/room" -
	run --arch arm64 --mem 64M --payload "$tap_dir/room" -- room
}
expect 'a program larger than memory says how much is free' 125 '^barecpc: room: does not fit in memory: 200 MiB, [0-9]+ MiB are free$' of_size 200
free=$(sed -n 's/^barecpc: room: .*, \([0-9]*\) MiB are free$/\1/p' "$err")
expect 'a program that is a little smaller runs' 0 '^barecpc: exit 0$' of_size $((${free:-0} - 2))
expect 'a program that is a little larger does not' 125 "^barecpc: room: does not fit .* $free MiB are free\$" of_size $((${free:-0} + 1))
of_stack() { # [OPTION...]: a program that `stat` runs ends with EFAULT (14) or ENOENT (2) of the address 1 MiB down its stack
	printf '#include <%s.h>\n' errno stdint unistd |
		sed '3aint main(void) { char c; access((char *)((uintptr_t)&c - (1 << 20)), 0); return errno; }' |
		scripts/barecpc-cc --arch arm64 "$@" -x c -o "$tap_dir/stack" - && run --arch arm64 --payload "$tap_dir/stack" -- stat stack
}
expect 'a program has more than 1 MiB of stack' 2 '^barecpc: exit 2$' of_stack
expect 'one that asks for little has less' 14 '^barecpc: exit 14$' of_stack -Wl,-z,stack-size=131072
long=$(printf '%070d' 0)
expect 'a long name that is cut says so' 125 '^barecpc: 0{60}[.][.][.]: no such program' run --arch arm64 -- "$long"
# Archives.
scripts/mkcpio -o "$tap_dir/hello.cpio" "$tap_dir/hello"
head -c 5000 "$tap_dir/hello.cpio" >"$tap_dir/cut.cpio"
expect 'a truncated archive' 125 '^barecpc: initrd: at byte 0 of [0-9]+ it is truncated in a file' run --arch arm64 --payload "$tap_dir/cut.cpio" -- hello
head -c 60 "$tap_dir/hello.cpio" >"$tap_dir/cut.cpio"
expect 'truncated in a header' 125 '^barecpc: initrd: at byte 0 of [0-9]+ it is truncated in a header' \
	run --arch x86_64 --payload "$tap_dir/cut.cpio" -- hello
for arch in arm64 x86_64; do
	head -c 4096 "$tap_dir/hello" | tail -c 3000 >"$tap_dir/garbage.cpio"
	expect "$arch: a garbage archive" 125 '^barecpc: initrd: at byte 0 of [0-9]+ it is not a cpio archive' \
		run --arch $arch --payload "$tap_dir/garbage.cpio" -- spin
done
gzip -nc "$tap_dir/hello.cpio" >"$tap_dir/hello.cpio.gz"
expect 'a compressed archive' 125 '^barecpc: initrd: .* it is compressed with gzip; give it uncompressed' \
	run --arch arm64 --payload "$tap_dir/hello.cpio.gz" -- hello
: >"$tap_dir/suite"
scripts/mkcpio -o "$tap_dir/none.cpio" "$tap_dir/suite"
expect 'no payloads' 125 '^barecpc: .*suite' run --arch arm64 --payload "$tap_dir/none.cpio"

# The command line.
expect 'a bad value' 125 '^barecpc: command line: .priv=root.: not user or system' run --arch arm64 --append priv=root -- spin
expect 'an open quote' 125 '^barecpc: command line: a double quote is not closed' run --arch arm64 --append '"env.A=1' -- spin
long=$(head -c 3800 /dev/zero | tr '\0' x)
for arch in arm64 x86_64; do
	file=$([ $arch = arm64 ] && echo "$tap_dir/hello" || echo "$tap_dir/x86/hello")
	expect "$arch: an unknown word" 125 '^barecpc: command line: .timout=5.: unknown; did you mean timeout=SECONDS' \
		run --arch $arch --append timout=5 -- spin
	expect "$arch: 4 KiB of command line" 0 '^barecpc: exit 0' run --arch $arch --payload "$file" --env "HELLO=$long" -- hello 0
	check "$arch: arrive complete" grep -qF "HELLO=$long " "$out"
	expect "$arch: 16 MiB of memory" 3 '^barecpc: exit 3' run --arch $arch --mem 16M --payload "$file" -- hello 3
done
expect 'a command line too long for QEMU' 125 '^host: a command line of [0-9]+ bytes' \
	run --arch arm64 --append "env.A=$(head -c 70000 /dev/zero | tr '\0' x)" \
	--append "env.B=$(head -c 70000 /dev/zero | tr '\0' x)"

# A megabyte of barecpc.cfg, whose words are valid one by one.
word=env.A=$(head -c 104000 /dev/zero | tr '\0' x)
set --
for n in 1 2 3 4 5 6 7 8 9 10; do
	set -- "$@" --append "$word$n"
done
for arch in arm64 x86_64; do
	expect "$arch: 1 MiB of barecpc.cfg" 125 '(command line|barecpc.cfg).*(65536|64 KiB)' run --arch $arch --boot uefi "$@" -- spin
done
end
