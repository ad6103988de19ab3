#!/bin/sh
# scripts/dev/fresh, ended by a signal, leaves no process and no folder.  Its commands of apt and debootstrap are faked here.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

seconds=86399 # no other process of this machine sleeps so long
busybox=$(BARECPC_SETUP=no scripts/setup --cache)/busybox-static-$(dpkg --print-architecture)/bin/busybox
if [ "$(id -u)" != 0 ] || ! unshare --mount --pid --fork true; then
	skip 'scripts/dev/fresh ended by a signal' 'it needs root, and mounts and processes of its own'
	end
	exit
fi
if [ ! -x "$busybox" ]; then
	skip 'scripts/dev/fresh ended by a signal' 'the package busybox-static is not in the cache'
	end
	exit
fi

fake_command apt-get <<'END'
for word; do
	case $word in Dir::State::lists=*) lists=${word#*=} ;; esac
done
echo a release >"$lists/mirror_dists_bookworm_InRelease"
END
fake_command debootstrap <<END
mkdir -p "\$4"
sleep $seconds
END

# The processes that sleep for $seconds.
sleepers() {
	grep -lzx '[8]6399' /proc/[0-9]*/cmdline 2>/dev/null | cut -d / -f 3
}

# Try a command each tenth of a second, for a minute at most, until it succeeds.
await() {
	tries=0
	until "$@" || [ $tries = 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

has_begun() {
	[ -n "$(sleepers)" ]
}

has_ended() {
	! grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null
}

# end_by NAME SIGNAL NUMBER WORDS...: end scripts/dev/fresh by a signal while its command sleeps.
end_by() {
	name=$1 signal=$2 number=$3
	shift 3
	mkdir -p "$tap_dir/tmp"
	# A job of sh ignores SIGINT, and all below nohup(1) ignores SIGHUP.
	env PATH="$tap_dir/bin:$PATH" BARECPC_CACHE="$tap_dir/cache" TMPDIR="$tap_dir/tmp" python3 -c '
import os, signal, sys
for number in signal.SIGINT, signal.SIGHUP:
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' scripts/dev/fresh bookworm "$@" >"$out" 2>"$err" </dev/null &
	pid=$!
	await has_begun
	check "$name: it runs" has_begun
	kill -"$signal" $pid
	await has_ended
	has_ended || kill -KILL $pid
	status=0
	wait $pid || status=$?
	check "$name: $signal: the status has the signal" test $status = $((128 + number))
	left=$(sleepers)
	check "$name: no process is left" test -z "$left"
	# shellcheck disable=SC2086 # numbers
	[ -z "$left" ] || kill -KILL $left
	check "$name: no folder is left" test -z "$(ls "$tap_dir/tmp")$(ls -d "$tap_dir"/cache/fresh/tree.* 2>/dev/null)"
}

end_by 'a system that is being installed' TERM 15 --run true

# A system that has only a shell and a git for the clone.
base=$tap_dir/base
mkdir -p "$base/bin" "$base/proc" "$base/dev" "$base/tmp" "$base/etc/apt" "$base/root" "$base/var/cache/apt/archives"
for c in sh sleep env; do
	ln "$busybox" "$base/bin/$c" 2>/dev/null || cp "$busybox" "$base/bin/$c"
done
release=$(echo a release | sha256sum | cut -c 1-16)
tar -C "$base" -cf "$tap_dir/cache/fresh/bookworm-$release.tar" .
for signal in 'TERM 15' 'INT 2' 'HUP 1'; do
	# shellcheck disable=SC2086 # a name and a number
	end_by 'a command in the system' $signal --run "sleep $seconds & sleep $seconds"
done
end
