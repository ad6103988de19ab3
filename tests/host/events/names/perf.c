/*
 * Raw events in perf's forms, compared with the bits of the registers.  Intel
 * SDM vol. 3B and AMD APM vol. 2 (IA32_PERFEVTSELx), Arm ARM
 * (PMEVTYPER<n>_EL0).
 */

#include "events/events.h"
#include "tests/lib/host/test.h"

#define U (1U << MOD_U)
#define K (1U << MOD_K)

static const struct {
	enum event_kind kind;
	const char *name;
	uint64_t select;
	uint32_t given;
} valid[] = {
	{ EVENT_INTEL, "r1a8", 0x1a8, 0 },
	{ EVENT_INTEL, "r1A8:u", 0x1a8, U },
	{ EVENT_INTEL, "rc0:uk", 0xc0, U | K },
	{ EVENT_INTEL, "r28001c0", 0x28001c0, 0 },
	{ EVENT_INTEL, "cpu/event=0xa8,umask=0x1/", 0x1a8, 0 },
	{ EVENT_INTEL, "cpu/event=192,cmask=2,inv,edge=1/k", 0x28400c0, K },
	{ EVENT_INTEL, "cpu_core/umask=1,event=0x3c,any/:u", 0x20013c, U },
	{ EVENT_INTEL, "cpu/config=0x1a8/", 0x1a8, 0 },
	{ EVENT_AMD, "r20000038f", 0x20000038f, 0 },
	{ EVENT_AMD, "cpu/event=0x28f,umask=0x3/", 0x20000038f, 0 },
	{ EVENT_ARM, "r8", 0x8, 0 },
	{ EVENT_ARM, "r4005:k", 0x4005, K },
	{ EVENT_ARM, "armv8_pmuv3_0/event=0x11/u", 0x11, U },
	{ EVENT_ARM, "armv8_pmuv3/event=0x4005/", 0x4005, 0 },
	{ EVENT_INTEL, "cpu/event=0xc4,umask=0x111,cmask=1,eq/", 0x110010011c4,
	    0 },
};

static const struct {
	enum event_kind kind;
	const char *name;
} invalid[] = {
	{ EVENT_INTEL, "" },
	{ EVENT_INTEL, "r" },
	{ EVENT_INTEL, "rx" },
	{ EVENT_INTEL, "rc0x" },
	{ EVENT_INTEL, "rc0:" },
	{ EVENT_INTEL, "rc0:x" },
	{ EVENT_INTEL, "r100c0" },     /* the suffix :u sets USR */
	{ EVENT_INTEL, "r1000000c0" }, /* valid for AMD only */
	{ EVENT_INTEL, "r1ffffffffffffffff" },
	{ EVENT_INTEL, "cpu" },
	{ EVENT_INTEL, "cpu/" },
	{ EVENT_INTEL, "cpu//" },
	{ EVENT_INTEL, "/event=1/" },
	{ EVENT_INTEL, "cpu/event=0x100/" },
	{ EVENT_INTEL, "cpu/event=/" },
	{ EVENT_INTEL, "cpu/event=0xc0" },
	{ EVENT_INTEL, "cpu/event=0xc0,/" },
	{ EVENT_INTEL, "cpu/event=0xc0,nonsense=1/" },
	{ EVENT_INTEL, "cpu/event=0xc0/x" },
	{ EVENT_INTEL, "cpu/inv=2,event=1/" },
	{ EVENT_AMD, "cpu/event=0xc0,any/" },
	{ EVENT_AMD, "cpu/event=0x1000/" },
	{ EVENT_ARM, "r10000" },
	{ EVENT_ARM, "armv8_pmuv3/event=8,umask=1/" },
	{ EVENT_NETBURST, "rc0" },
};

/* Values of extra MSRs, of events that use these. */
static const struct {
	const char *name;
	uint64_t select;
	enum event_extra extra; /* EXTRA_NONE: the name is refused */
	uint64_t value;
} extras[] = {
	{ "cpu/event=0xcd,umask=0x1,ldlat=0x80/", 0x1cd, EXTRA_LDLAT, 0x80 },
	{ "cpu_atom/ldlat=3,event=0xd0,umask=5/u", 0x5d0, EXTRA_LDLAT, 3 },
	{ "cpu/event=0xc6,umask=1,frontend=0x400406/", 0x1c6, EXTRA_FRONTEND,
	    0x400406 },
	{ "cpu/event=0xc2,umask=4,frontend=8/", 0x4c2, EXTRA_FRONTEND, 8 },
	{ "cpu/event=0xb7,umask=1,offcore_rsp=0x3fffc00001/", 0x1b7,
	    EXTRA_OFFCORE0, 0x3fffc00001 },
	{ "cpu/event=0xbb,umask=1,offcore_rsp=1/", 0x1bb, EXTRA_OFFCORE1, 1 },
	{ "cpu/event=0xc0,ldlat=3/", 0, EXTRA_NONE, 0 },
	{ "cpu/event=0xc2,umask=1,frontend=8/", 0, EXTRA_NONE, 0 },
	{ "cpu/event=0xcd,umask=1,offcore_rsp=1/", 0, EXTRA_NONE, 0 },
	{ "cpu/event=0xcd,umask=1,ldlat=0x10000/", 0, EXTRA_NONE, 0 },
	{ "cpu/event=0xcd,umask=1,ldlat=/", 0, EXTRA_NONE, 0 },
	{ "cpu/event=0xcd,umask=1,ldlat=3,ldlat=4/", 0, EXTRA_NONE, 0 },
	{ "cpu/event=0xcd,umask=1,frontend=1,ldlat=4/", 0, EXTRA_NONE, 0 },
};

TEST(extra_msrs_go_with_their_events)
{
	struct event_code ec;

	for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
		bool taken = events_perf(EVENT_INTEL, extras[i].name, &ec);

		if (taken != (extras[i].extra != EXTRA_NONE))
			fail_msg("%s", extras[i].name);
		if (!taken)
			continue;
		assert_int_equal(ec.ec_select, extras[i].select);
		assert_int_equal(ec.ec_extra, extras[i].extra);
		assert_int_equal(ec.ec_extra_value, extras[i].value);
	}
	assert_false(
	    events_perf(EVENT_AMD, "cpu/event=0xcd,umask=1,ldlat=3/", &ec));
}

TEST(lists_are_cut_at_commas)
{
	char text[] = "r1c0,cpu/event=1,umask=2/k,pic1=cpu/inv,event=3/,";
	char *list = text;

	assert_string_equal(events_cut(&list), "r1c0");
	assert_string_equal(events_cut(&list), "cpu/event=1,umask=2/k");
	assert_string_equal(events_cut(&list), "pic1=cpu/inv,event=3/");
	assert_string_equal(events_cut(&list), "");
	assert_null(events_cut(&list));
}

TEST(forms_are_their_bits)
{
	struct event_code ec;

	for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
		if (!events_perf(valid[i].kind, valid[i].name, &ec))
			fail_msg("%s is refused", valid[i].name);
		if (ec.ec_select != valid[i].select)
			fail_msg("%s is %#llx", valid[i].name,
			    (unsigned long long)ec.ec_select);
		assert_int_equal(ec.ec_given, valid[i].given);
		assert_int_equal(ec.ec_extra, EXTRA_NONE);
		assert_true(ec.ec_pics != 0);
	}
}

TEST(anything_else_is_refused)
{
	struct event_code ec;

	for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
		if (events_perf(invalid[i].kind, invalid[i].name, &ec))
			fail_msg("%s is taken", invalid[i].name);
	}
}

/* The bits that events_encode() sets, too: enable, interrupt, privileges. */
TEST(raw_selects_are_complete)
{
	static const struct {
		enum event_kind kind;
		const char *name;
		uint64_t select; /* 0: refused */
	} raw[] = {
		{ EVENT_INTEL, "r1c2", 0x5301c2 },
		{ EVENT_INTEL, "r1c2:u", 0x5101c2 },
		{ EVENT_INTEL, "cpu/event=0xc2,umask=1/k", 0x5201c2 },
		{ EVENT_INTEL, "0xc0", 0x5300c0 },
		{ EVENT_INTEL, "192:k", 0x5200c0 },
		{ EVENT_INTEL, "0300", 0x5300c0 },
		{ EVENT_INTEL, "0", 0x530000 },
		{ EVENT_INTEL, "0x100", 0 },
		{ EVENT_INTEL, "0x", 0 },
		{ EVENT_INTEL, "08", 0 },
		{ EVENT_INTEL, "0xc0z", 0 },
		{ EVENT_INTEL, "0xc0:", 0 },
		{ EVENT_AMD, "0x28f", 0x20053008f },
		{ EVENT_AMD, "0x1000", 0 },
		{ EVENT_ARM, "0x11", 0x8000011 },
		{ EVENT_ARM, "r11:u", 0x48000011 },
		{ EVENT_ARM, "0x11:k", 0x88000011 },
		{ EVENT_ARM, "0x10000", 0 },
		{ EVENT_NETBURST, "0xc0", 0 },
	};
	struct event_code ec;

	for (size_t i = 0; i < sizeof raw / sizeof raw[0]; i++) {
		bool taken = events_raw(raw[i].kind, raw[i].name, &ec);

		if (taken != (raw[i].select != 0) ||
		    (taken && ec.ec_select != raw[i].select))
			fail_msg("%s is %#llx", raw[i].name,
			    (unsigned long long)(taken ? ec.ec_select : 0));
	}
}
