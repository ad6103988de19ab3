/* The proof at boot reports what it finds; no PIC that fails is used. */
#include "tests/lib/host/kcpc/host.h"

#include <string.h>

#include "kern/cpc/kcpc.h"
#include "lib/text.h"

static char text[2048];

/* The text of kcpc_describe(). */
static const char *
description(void)
{
	struct text t = { text, sizeof text, 0 };

	kcpc_describe(&t);
	return text;
}

static void
count_event(void *arg, uint_t picno, const char *event)
{
	++*(int *)arg;
}

CPC_TEST(found_pmu_is_one_line)
{
	assert_string_equal(
	    fake_console, "pcbe: Fake PMU: 4 of 4 PICs proved, 48 bits\n");
}

CPC_TEST(absent_pmu_is_one_line_with_the_reason)
{
	fake_shape.npic = 0;
	reboot();
	assert_string_equal(
	    fake_console, "pcbe: PMU absent: this test took it away\n");
	assert_string_equal(description(),
	    "\"pmu\":null,\"pmu_reason\":\"PMU absent: this test took it "
	    "away\",\"npic\":0,\"pics\":[],\"overflow_proof\":null");
}

CPC_TEST(broken_pic_is_named_and_not_used)
{
	int events = 0;

	fake_shape.broken = 1 << 1;
	reboot();
	assert_string_equal(fake_console,
	    "pcbe: PIC 1 is not used: reads 0 after 4200 instructions\n"
	    "pcbe: Fake PMU: 3 of 4 PICs proved, 48 bits\n");
	assert_int_equal(cpc_npic(cpc), 4);
	cpc_walk_events_pic(cpc, 1, &events, count_event);
	assert_int_equal(events, 0);
	cpc_set_t *set = set_of("cycles");
	add(set, "cycles");
	bind_curlwp(set);
	assert_int_equal(fake_pmu_running(), 1 << 0 | 1 << 2);
}

/* A raw code is in no PIC's list: the add takes picnum, the bind does not. */
CPC_TEST(broken_pic_takes_no_raw_code_either)
{
	fake_shape.broken = 1 << 1;
	reboot();
	cpc_set_t *set = cpc_set_create(cpc);
	add_pic(set, "0x3c", 1);
	assert_reported(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
}

CPC_TEST(no_pic_that_counts_is_no_pmu)
{
	fake_shape.broken = 0xf;
	reboot();
	assert_null(cpc);
	assert_null_errno(cpc_open(CPC_VER_CURRENT), ENOSYS);
	assert_non_null(
	    strstr(fake_console, "no PIC counts right, none is used\n"));
}

/* The proof's findings are in the records, even if no PIC is used. */
CPC_TEST(failed_pics_are_described)
{
	fake_shape.broken = 0x3;
	fake_shape.npic = 2;
	reboot();
	assert_string_equal(description(),
	    "\"pmu\":null,\"pmu_reason\":"
	    "\"reads 0 after 4200 instructions\","
	    "\"npic\":2,\"pics\":[{\"pic\":0,\"width\":48,\"unproved\":"
	    "\"reads 0 after 4200 instructions\"},"
	    "{\"pic\":1,\"width\":48,\"unproved\":"
	    "\"reads 0 after 4200 instructions\"}],"
	    "\"overflow_proof\":\"comes\"");
}

CPC_TEST(description_is_json_members)
{
	fake_shape.broken = 1 << 1;
	fake_shape.npic = 2;
	reboot();
	assert_string_equal(description(),
	    "\"pmu\":\"Fake PMU\",\"npic\":2,\"pics\":["
	    "{\"pic\":0,\"width\":48,\"unproved\":null},"
	    "{\"pic\":1,\"width\":48,\"unproved\":"
	    "\"reads 0 after 4200 instructions\"}],\"overflow_proof\":"
	    "\"comes\",\"caps\":0,"
	    "\"user_read\":true,\"counts_all_cpus\":false,"
	    "\"software\":false");
}

CPC_TEST(description_is_cut_as_snprintf_would)
{
	size_t whole = strlen(description()), n;
	char cut[512];

	for (n = 1; n < whole; n++) {
		memset(cut, '#', sizeof cut);
		struct text t = { cut, n, 0 };

		kcpc_describe(&t);
		assert_int_equal(t.t_len, whole);
		assert_int_equal(strlen(cut), n - 1);
		assert_memory_equal(cut, text, n - 1);
		assert_int_equal(cut[n], '#');
	}
}
