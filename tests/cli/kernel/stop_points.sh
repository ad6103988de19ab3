#!/bin/sh
# trace=stops prints each stop point that a process reaches, in order, with its LWPs and
# the sets that are bound.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

cat >"$tap_dir/wanted" <<'END'
lwp 1 (bound): lwp_create 2 (bound)
lwp 2 (bound): lwp_exit
lwp 1 (bound): fork
lwp 1 (unbound): exit 3 of 1 LWP(s), 0 bound
lwp 1 (bound): fork
lwp 1 (bound): exec of 1 LWP(s), 1 bound
lwp 1 (unbound): exec done
lwp 1 (unbound): exit 4 of 1 LWP(s), 0 bound
lwp 1 (bound): fork
lwp 1 (bound): exec of 1 LWP(s), 1 bound
lwp 1 (bound): exec failed
lwp 1 (bound): lwp_create 3 (bound)
lwp 1 (bound): exit 5 of 2 LWP(s), 2 bound
END
for arch in arm64 x86_64; do
	scripts/barecpc-cc --arch $arch -O1 -o "$tap_dir/stops" tests/cli/programs/kernel/stop_points.c
	expect "$arch: the program ends normally" 5 '^barecpc: exit 5' \
		scripts/barecpc run --arch $arch --accel tcg --payload "$tap_dir/stops" --append trace=stops -- stops
	grep '^stop: ' "$err" | sed 's/^stop: [^:]*: //' >"$tap_dir/got"
	check "$arch: every stop point, in order" diff "$tap_dir/wanted" "$tap_dir/got"
	expect "$arch: without trace=stops" 5 '^barecpc: exit 5' \
		scripts/barecpc run --arch $arch --accel tcg --payload "$tap_dir/stops" -- stops
	check "$arch: no stop was printed" sh -c "! grep '^stop: ' '$err'"
done
end
