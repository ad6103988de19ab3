#!/bin/sh
# Programs from outside the tree: compiled by barecpc-cc, or unmodified static ones made with musl's own wrapper,
# run by --payload without a rebuild.  Arguments, environment, stdout and status pass through untouched.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

run() {
	scripts/barecpc run --accel tcg "$@" </dev/null
}

cat >"$tap_dir/want" <<'END'
[hello]
[7]
[a b]
[c"d\e$f]
[]
HELLO=x "y" z 2.236068
END

# hello_prints NAME ARCH FILE
hello_prints() {
	# shellcheck disable=SC2016 # the dollar is passed unchanged
	run --arch "$2" --payload "$3" --env 'HELLO=x "y" z' -- hello 7 'a b' 'c"d\e$f' '' >"$out" 2>"$err"
	status=$?
	check "$1: status" test $status = 7
	check "$1: stdout" diff "$out" "$tap_dir/want"
}

for arch in arm64 x86_64; do
	case $arch in
	arm64) triple=aarch64-linux ;;
	*) triple=x86_64-linux ;;
	esac
	mkdir -p "$tap_dir/$arch/cc" "$tap_dir/$arch/pie" "$tap_dir/$arch/musl"

	check "$arch: barecpc-cc" scripts/barecpc-cc --arch $arch -O2 -Wall -Werror \
		-o "$tap_dir/$arch/cc/hello" tests/cli/programs/hello.c -lm
	hello_prints "$arch: static" $arch "$tap_dir/$arch/cc/hello"

	check "$arch: barecpc-cc -static-pie" scripts/barecpc-cc --arch $arch -static-pie -O2 -Wall -Werror \
		-o "$tap_dir/$arch/pie/hello" tests/cli/programs/hello.c -lm
	hello_prints "$arch: static-pie" $arch "$tap_dir/$arch/pie/hello"

	# gcc with musl's specs, as musl-gcc runs it.  This program contains nothing of barecpc.
	check "$arch: musl-gcc" "$triple-gnu-gcc" -specs "/usr/lib/$triple-musl/musl-gcc.specs" -static -O2 \
		-o "$tap_dir/$arch/musl/hello" tests/cli/programs/hello.c -lm
	hello_prints "$arch: unmodified Linux program" $arch "$tap_dir/$arch/musl/hello"

	scripts/barecpc-cc --arch $arch -O2 -c -o "$tap_dir/$arch/libcpc.o" tests/cli/programs/libcpc.c
	check "$arch: libcpc is linked in" scripts/barecpc-cc --arch $arch \
		-o "$tap_dir/$arch/count" "$tap_dir/$arch/libcpc.o"
done

expect 'a program counts' 0 'barecpc: exit 0' scripts/barecpc run --arch arm64 --accel tcg \
	--payload "$tap_dir/arm64/count" -- count
check 'it counts exactly' grep -qx 4000 "$out"
expect 'a program at system privilege' 0 'barecpc: exit 0' scripts/barecpc run --arch x86_64 --accel tcg \
	--append priv=system --payload "$tap_dir/x86_64/cc/hello" -- hello 0
expect 'two payload files' 7 'barecpc: exit 7' scripts/barecpc run --arch arm64 --accel tcg \
	--payload "$tap_dir/arm64/count" --payload "$tap_dir/arm64/cc/hello" -- hello 7
scripts/barecpc-cc --arch arm64 -I examples -Wl,--wrap=cpc_set_create -x c -o "$tap_dir/no_set" - <<'END'
#include <errno.h>
#include "suite/dot.c"
cpc_set_t *
__wrap_cpc_set_create(cpc_t *cpc)
{
	(void)cpc;
	errno = ENOMEM;
	return NULL;
}
END
expect 'an example whose set cannot be made says so' 77 '^cpc_set_create: Out of memory$' scripts/barecpc run --arch arm64 --accel tcg \
	--payload "$tap_dir/no_set" -- no_set
echo '#include <libcpc_impl.h>
int main(void) { return cpc_open(CPC_VER_CURRENT) == NULL; }' >"$tap_dir/impl.c"
check 'a program of Solaris that includes <libcpc_impl.h>' scripts/barecpc-cc --arch x86_64 -o "$tap_dir/impl" "$tap_dir/impl.c"
# Build systems name the compiler in CC, and CMake and configure scripts export it.  A wrapper that took CC for its
# underlying compiler called itself without end: timeout(1) ends all of its processes.
cc=$PWD/scripts/barecpc-cc
project=$tap_dir/project
mkdir "$project"
cp tests/cli/programs/hello.c "$project"
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(hello C)
add_executable(hello-cmake hello.c)
target_link_libraries(hello-cmake m)
END
cat >"$project/configure" <<'END'
#!/bin/sh
: "${CC=cc}"
export CC
echo 'int main(void) { return 0; }' >conftest.c
"$CC" -o conftest conftest.c || exit 77
printf 'CC = %s\nhello-configure: hello.c\n\t$(CC) -O2 -o $@ $< -lm\n' "$CC" >Makefile
END
cat >"$project/plain.mk" <<'END'
hello-make: hello.c
	$(CC) -O2 -o $@ $< -lm
END

# built_by NAME COMMAND: the command, run in the project, builds the program hello-NAME, which runs.
built_by() {
	check "$1: builds" env -u BARECPC_CC BARECPC_ARCH=arm64 timeout -k 1 60 sh -c "cd '$project' && $2"
	hello_prints_itself "$1"
}
hello_prints_itself() {
	run --arch arm64 --payload "$project/hello-$1" -- "hello-$1" 7 >"$out" 2>"$err"
	status=$?
	check "$1: runs" test "$status $(head -n 1 "$out")" = "7 [hello-$1]"
}
built_by cmake "CC='$cc' cmake -B cmake . && cmake --build cmake && cp cmake/hello-cmake ."
built_by configure "CC='$cc' sh configure && make"
built_by make "CC='$cc' make -f plain.mk"
rm -f "$project/hello-make"
built_by make "make -f plain.mk CC='$cc'"
expect 'a compiler that is barecpc-cc itself' 1 "^barecpc-cc: calls itself: BARECPC_CC=$cc: name the underlying compiler" \
	env BARECPC_CC="$cc" timeout -k 1 20 "$cc" --arch arm64 -c -o "$tap_dir/x.o" tests/cli/programs/hello.c
check 'the message comes once' test "$(wc -l <"$err")" = 1
cat >"$tap_dir/other" <<END
#!/bin/sh
echo "\$*" >>"$tap_dir/calls"
exec aarch64-linux-gnu-gcc "\$@"
END
chmod +x "$tap_dir/other"
check 'BARECPC_CC: compiles' env BARECPC_CC="$tap_dir/other" "$cc" --arch arm64 -c -o "$tap_dir/x.o" tests/cli/programs/hello.c
check 'BARECPC_CC: names the compiler' grep -q -e '-c -o .* tests/cli/programs/hello.c' "$tap_dir/calls"

expect 'a shared library is no payload' 2 'barecpc-cc: -shared: a payload is a static program' \
	scripts/barecpc-cc --arch arm64 -shared tests/cli/programs/hello.c
for name in aarch64 ARM64 x86-64 amd64; do
	check "--arch $name" scripts/barecpc-cc --arch $name -c -o "$tap_dir/named.o" tests/cli/programs/hello.c
	case $name in a*64 | ARM64) machine=AArch64 ;; esac
	case $name in x86-64 | amd64) machine='X86-64' ;; esac
	check "$name is for $machine" sh -c "readelf -h '$tap_dir/named.o' | grep -q 'Machine:.*$machine'"
done
# Without --arch: what `barecpc arch` prints, or BARECPC_ARCH says to both.
for name in arm64 amd64; do
	arch=$(env BARECPC_ARCH=$name scripts/barecpc arch 2>"$err")
	check "BARECPC_ARCH=$name: barecpc arch" test "$arch" = "$(echo $name | sed 's/amd64/x86_64/')"
	env BARECPC_ARCH=$name scripts/barecpc-cc -c -o "$tap_dir/here.o" tests/cli/programs/hello.c
	scripts/barecpc-cc --arch "$arch" -c -o "$tap_dir/named.o" tests/cli/programs/hello.c
	check "BARECPC_ARCH=$name: barecpc-cc" cmp "$tap_dir/here.o" "$tap_dir/named.o"
done
scripts/barecpc-cc --arch "$(env -u BARECPC_ARCH scripts/barecpc arch 2>"$err")" -c -o "$tap_dir/named.o" tests/cli/programs/hello.c
env -u BARECPC_ARCH scripts/barecpc-cc -c -o "$tap_dir/here.o" tests/cli/programs/hello.c
check 'without both: what barecpc arch prints' cmp "$tap_dir/here.o" "$tap_dir/named.o"
expect 'BARECPC_ARCH with an unknown name' 125 '^host: BARECPC_ARCH=vax: no such architecture: give arm64 or x86_64' \
	env BARECPC_ARCH=vax scripts/barecpc arch
# Two compilers in a fresh tree: one builds the library, and the other waits for all of it.
mkdir -p "$tap_dir/fresh/build"
cp -r scripts include "$tap_dir/fresh" && touch "$tap_dir/fresh/Makefile"
fake_command make <<END
echo make >>"$tap_dir/makes"
mkdir -p "$tap_dir/fresh/build/arm64"
printf '!<arch>\nhalf' >"$tap_dir/fresh/build/arm64/libcpc.a"
sleep 1
cp build/arm64/libcpc.a "$tap_dir/fresh/build/arm64"
END
both() {
	for n in 1 2; do
		env PATH="$tap_dir/bin:$PATH" "$tap_dir/fresh/scripts/barecpc-cc" --arch arm64 -o "$tap_dir/both$n" tests/cli/programs/libcpc.c &
		sleep 0.5
	done
	wait
	[ -x "$tap_dir/both1" ] && [ -x "$tap_dir/both2" ]
}
check 'two barecpc-cc in a fresh tree link all of libcpc' both
check 'one of them builds it' test "$(cat "$tap_dir/makes")" = make
rm -r "$tap_dir/fresh/build/arm64"
check "barecpc's own build, which holds the lock, does not wait for it" flock "$tap_dir/fresh/build/lock" \
	env PATH="$tap_dir/bin:$PATH" BARECPC_LOCKED=yes timeout 60 "$tap_dir/fresh/scripts/barecpc-cc" --arch arm64 -o "$tap_dir/inside" tests/cli/programs/libcpc.c
expect 'an unknown architecture' 2 'barecpc-cc: unknown architecture vax' scripts/barecpc-cc --arch vax x.c
end
