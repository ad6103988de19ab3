#!/bin/sh
# Two builds of the Debian packages have the same bytes, and a fresh Debian that installs them counts.
#
#     packages.sh [DEBIAN...]    bookworm and trixie, unless one is named
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

check 'what makes packages' scripts/setup --package
for n in 1 2; do
	check "build $n" make -s deb
	mkdir "$tap_dir/$n"
	cp build/deb/*.deb "$tap_dir/$n"
done
for package in barecpc barecpc-qemu; do
	check "$package: the same bytes" cmp "$tap_dir"/1/${package}_*.deb "$tap_dir"/2/${package}_*.deb
done
dpkg -x "$tap_dir"/1/barecpc_*.deb "$tap_dir/tree"
check 'the version is a number and a commit' sh -c "$tap_dir/tree/usr/bin/barecpc --version | grep -qE '^barecpc [0-9.]+, 20[0-9-]+ [0-9a-f]+$'"
check 'a copyright file' test -s "$tap_dir/tree/usr/share/doc/barecpc/copyright"
check 'the licences that it names' test -s "$tap_dir/tree/usr/share/doc/barecpc/LICENSE"

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
	skip 'a fresh Debian' 'needs root and debootstrap'
else
	# The two commands of the README, in the folder of the packages.  apt asks for consent.
	typed=$(sed -n 's/^    \(apt install .*\|barecpc run --arch x86_64 .*\)$/\1/p' README.md | paste -s -d '&' | sed 's/&/ \&\& /')
	check 'the README has both commands' test "${typed#*.deb && barecpc run }" != "$typed"
	[ $# -gt 0 ] || set -- bookworm trixie
	for debian; do
		# The tree of scripts/dev/fresh has this folder as its cache.
		kept=$(scripts/setup --cache)/fresh/$debian-cache/packages
		mkdir -p "$kept"
		rm -f "$kept"/*.deb
		cp "$tap_dir"/1/barecpc_*.deb "$tap_dir"/1/barecpc-qemu_*.deb "$kept"
		status=0
		scripts/dev/fresh "$debian" --run "echo 'APT::Get::Assume-Yes 1;' >/etc/apt/apt.conf.d/92yes && \
			apt-get -q update && cd ~/.cache/barecpc/packages && date +%s >/tmp/begin && $typed && date +%s >/tmp/end && \
			barecpc run --arch arm64 -- spin && barecpc stat ls && echo \$((\$(cat /tmp/end) - \$(cat /tmp/begin))) seconds && \
			apt-get -q -y install --no-install-recommends sudo python3-yaml faketime && useradd --uid 1001 runner && \
			echo 'runner ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/runner && \
			cd ~/barecpc && tests/cli/tools/workflow.py ~/.cache/barecpc/packages" >"$err" 2>&1 || status=$?
		check "$debian: a fresh one" test $status = 0
		# It prints the end of its log, which the container overwrites.
		cp "build/fresh/$debian.log" "$out"
		check "$debian: it counts on x86-64 and arm64" test "$(grep -c 'spin/pic0 .*PAPI_tot_ins:u  *4000 ' "$out")" = 2
		check "$debian: it counts its own ls" grep -q 'Performance counter stats for .*/usr/bin/ls' "$out"
		seconds=$(sed -n 's/^\([0-9]*\) seconds$/\1/p' "$out")
		# The promise of the README is two minutes, for a network and a machine of our users' kind.
		check "$debian: from apt to the first count: ${seconds:-no} seconds" test "${seconds:-999}" -lt 120
		check "$debian: make, GitHub and GitLab name one instruction" test "$(grep -c '^ok .*: and the table names' "$out")" = 3
		check "$debian: a program that did not change passes 50 times" grep -q '^ok .* passes in 50 folders' "$out"
	done
fi

# The container image is unpacked by buildah, and its program runs in a chroot.
if [ "$(id -u)" != 0 ] || ! command -v buildah >/dev/null; then
	skip 'a container' 'needs root and buildah'
else
	check 'a container image' scripts/package/make-container "$tap_dir/1" "$tap_dir/image.tar"
	set -- --storage-driver vfs --root "$tap_dir/store" --runroot "$tap_dir/run"
	container=$(buildah "$@" from "oci-archive:$tap_dir/image.tar" 2>"$err")
	expect 'it runs' 0 '^barecpc: exit 0' buildah "$@" run --isolation chroot "$container" -- barecpc run --arch x86_64 -- spin
	check 'it counts' grep -q 'spin/pic0 .*PAPI_tot_ins:u  *4000 ' "$out"
	check 'it keeps no package sources' sh -c "! buildah $* run --isolation chroot $container -- \
		grep -rEq '^(deb |URIs:|Acquire::[a-z]*::Proxy)' /etc/apt"
	check 'its entry point is barecpc' sh -c "buildah $* inspect --format '{{.OCIv1.Config.Entrypoint}}' $container | grep -qxF '[barecpc]'"
	buildah "$@" rm "$container" >/dev/null 2>&1
	buildah "$@" rmi --all >/dev/null 2>&1
fi
end
