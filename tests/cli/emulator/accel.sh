#!/bin/sh
# KVM is used only if a short boot shows that it works, is fast and counts.  The fake QEMU plays the probes of
# the hosts that exist.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

fake_emulators
unset BARECPC_ACCEL
case $(uname -m) in
x86_64) own=x86_64 ;;
*) own=arm64 ;;
esac

# arch_with SCENE: the answer of `barecpc arch` on a host whose probe plays this scene.
arch_with() {
	env PATH="$tap_dir/bin:$PATH" BARECPC_DEV_KVM=/dev/null FAKE="$1" scripts/barecpc arch
}

# chosen NAME SCENE ARCH PATTERN
chosen() {
	arch_with "$2" >"$out" 2>"$err"
	if [ "$(cat "$out")" = "$3" ] && grep -qE -e "$4" "$err"; then
		ok "$1"
	else
		not_ok "$1" "$(cat "$out" "$err")"
	fi
}

chosen 'a KVM that counts' probe-good "$own" "^host: $own, kvm: KVM with a PMU \(version 2\)$"
chosen 'no PMU' probe-no-pmu arm64 'gives its guests no PMU'
chosen 'a thousand ticks per loop' probe-slow arm64 'KVM needs 1363 ticks for a loop of two instructions'
chosen 'a PMU that does not count' probe-liar arm64 'counted 0 of 20000 instructions'
chosen 'a KVM that fails at SIMD' probe-no-simd arm64 "gave up after 'COUNT 00004e22': KVM internal error"
chosen 'a probe without output' probe-mute arm64 'KVM does not boot: the probe printed nothing'
chosen 'KVM that cannot be opened' probe-refused arm64 'does not boot: .*Permission denied'

expect 'no KVM at all' 0 'KVM: /nonexistent does not exist' env BARECPC_DEV_KVM=/nonexistent scripts/barecpc arch
check 'then arm64 is emulated' grep -qx arm64 "$out"
expect 'TCG by request' 0 '^host: arm64, tcg:' env BARECPC_ACCEL=tcg scripts/barecpc arch
expect 'an absent KVM by request' 125 '^host: KVM: /nonexistent does not exist' \
	env BARECPC_DEV_KVM=/nonexistent scripts/barecpc run --arch "$own" --accel kvm
expect 'an unknown accelerator by request' 125 '^host: accelerator nonsense: known are auto, tcg, kvm' \
	env BARECPC_ACCEL=nonsense scripts/barecpc arch
# The Linux of the outer machine.  A mistake ends before any machine is made.
known='known with --accel nested-kvm are 7.3 and 7.3,mediated'
expect 'an unknown Linux' 125 "^host: --outer 7.2: $known" scripts/barecpc run --accel nested-kvm --outer 7.2
expect 'an outer Linux without a nested KVM' 125 "^host: --outer 7.3: $known" scripts/barecpc run --outer 7.3
expect 'stat takes it, too' 125 "^host: --outer 7.2: $known" scripts/barecpc stat --accel nested-kvm --outer 7.2 true
expect 'a mediated vPMU of arm64' 125 '^host: --outer 7.3,mediated: only KVM of x86 has' \
	scripts/barecpc run --arch arm64 --accel nested-kvm --outer 7.3,mediated --qemu stock
check 'the probe on this machine' scripts/barecpc probe
scripts/barecpc probe >"$out"
check 'it chooses for each architecture' test "$(grep -c ': auto is ' "$out")" = 2
end
