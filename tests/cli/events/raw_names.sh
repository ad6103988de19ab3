#!/bin/sh
# Every program, and the library, takes a raw event in perf's terms, with the commas between its slashes.
# It counts what the event's own name does.
# shellcheck disable=SC2086 # $options has several words
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

cat >"$tap_dir/ask.c" <<'END'
#include <libcpc.h>

#include <stdio.h>

/* ask SET1 SET2: count by the names of version 2, then by a specification of version 1. */
int
main(int argc, char **argv)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_buf_t *buf;
	cpc_event_t event;
	uint64_t n = 0;

	if (argc != 3 || cpc_set_add_request(cpc, set, argv[1], 0, CPC_COUNT_USER, 0, NULL) != 0)
		return 3;
	buf = cpc_buf_create(cpc, set);
	if (cpc_bind_curlwp(cpc, set, 0) != 0 || cpc_set_sample(cpc, set, buf) != 0 || cpc_buf_get(cpc, buf, 0, &n) != 0)
		return 4;
	printf("version 2: %s\n", n > 0 ? "counts" : "0");
	cpc_unbind(cpc, set);
	if (cpc_strtoevent(cpc_getcpuver(), argv[2], &event) != 0 || cpc_bind_event(&event, 0) != 0 || cpc_take_sample(&event) != 0)
		return 5;
	printf("version 1: %s\n", event.ce_pic[0] > 0 && event.ce_pic[1] > 0 ? "counts" : "0");
	return 0;
}
END

# does NAME STATUS PATTERN PROGRAM...: a run of the image prints a line that matches.
does() {
	tap_does="$arch: $1"
	tap_want=$2
	tap_line=$3
	shift 3
	expect "$tap_does" "$tap_want" '^barecpc: exit' scripts/barecpc run --arch $arch --accel tcg $options -- "$@"
	check "$tap_does: its line" sh -c "cat '$out' '$err' | grep -qE -e '$tap_line'"
}

for arch in arm64 x86_64; do
	[ "${BARECPC_BUILD-}" = no ] || make -s ARCH=$arch all >&2 || exit 1
	case $arch in
	arm64) raw=armv8_pmuv3/config=0,event=0x8/ cpu=neoverse_n1 code=0x8000008 ;;
	*) raw=cpu/event=0xc0,umask=0/ cpu=skl code=0x5300c0 ;;
	esac
	options=
	check "$arch: encode on the host" sh -c "scripts/barecpc encode --cpu $cpu $raw | grep -qx '$code $raw'"
	check "$arch: fits on the host" sh -c "scripts/barecpc fits --cpu $cpu $raw,$raw | grep -c '^$raw  *PIC ' | grep -qx 2"
	does encode 0 "^$code $raw" encode --cpu $cpu $raw
	does fits 0 "^$raw +PIC " fits $raw,$raw
	does stat 77 "^ +[1-9][0-9,]* +$raw:u" stat -e $raw:u,$raw:k spin 1000 3000
	does 'stat, in braces' 77 "^ +[1-9][0-9,]* +$raw:u" stat -e "{$raw,$raw}:u" spin 1000 3000
	does record 77 "^# $raw:u, a sample each 1009: [1-9]" record -c 1009 -e $raw:u spin 1000 3000
	does triad 0 "^triad/64 +$raw:u +[1-9]" triad -e $raw:u,PAPI_tot_ins:u 64
	does cputrack 0 '^ +[0-9.]+ +1 +exit +[1-9][0-9]* +[1-9]' cputrack -T 0 -c pic0=$raw,$raw encode --cpu $cpu $raw
	does cpustat 0 '^ +[0-9.]+ +1 total +[1-9]' cpustat -c $raw,sys 1 1
	options="--env EVENT0=$raw --env EVENT1=PAPI_tot_ins"
	does example1 0 '^ *1: [1-9][0-9]* [1-9]' example1
	options="--env EVENT=$raw"
	does example2 0 overflow example2
	scripts/barecpc-cc --arch $arch -O2 -o "$tap_dir/ask" "$tap_dir/ask.c"
	options="--payload $tap_dir/ask"
	does 'cpc_set_add_request()' 0 '^version 2: counts$' ask $raw pic0=$raw,$raw
	check "$arch: cpc_strtoevent()" grep -qx 'version 1: counts' "$out"
done

# An attribute makes another code: Haswell counts L1D_PEND_MISS.PENDING, 48H with unit mask 01H, on PIC 2 alone.
cat >"$tap_dir/pics.c" <<'END'
#include <libcpc.h>

#include <stdio.h>

int
main(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = cpc_set_create(cpc);

	for (int pic = 0; pic < 3; pic++) {
		cpc_attr_t attrs[] = { { "umask", 1 }, { "picnum", (uint64_t)pic } };

		printf(" %d", cpc_set_add_request(cpc, set, "r48", 0, CPC_COUNT_USER, 2, attrs));
	}
	puts("");
	return 0;
}
END
arch=x86_64
scripts/barecpc-cc --arch $arch -O2 -o "$tap_dir/pics" "$tap_dir/pics.c"
options="--cpu Haswell,check=off,pmu=on,pmu-version=3,pmu-counters=8 --payload $tap_dir/pics"
does 'the PICs of a code with the attribute umask' 77 '^ -1 -1 0$' pics

# The value of an extra MSR: the machine lacks it, and the reason names the register.
arch=x86_64 options="--cpu intel-v5"
does 'a latency' 1 'request 0: this CPU lacks MSR_PEBS_LD_LAT .0x3f6.$' fits cpu/event=0xcd,umask=0x1,ldlat=0x80/
does 'a front-end event' 1 'request 0: this CPU lacks MSR_PEBS_FRONTEND .0x3f7.$' fits cpu/event=0xc2,umask=4,frontend=8/
check 'its code is that of the name' sh -c "scripts/barecpc encode --cpu spr cpu/event=0xc2,umask=4,frontend=8/ |
	grep -qx '0x5304c2 MSR_PEBS_FRONTEND=0x8 cpu/event=0xc2,umask=4,frontend=8/'"
end
