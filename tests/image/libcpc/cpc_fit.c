/* A bind succeeds if any assignment of PICs exists, or says what is missing. */
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <stdio.h>
#include <string.h>

TEST_KEEPS(32);

#define INTEL_INS   "INSTRUCTION_RETIRED"
#define INTEL_FIXED "instr_retired.any"

static int
add_cmask(cpc_t *cpc, cpc_set_t *set, const char *event, uint_t nattrs)
{
	char name[] = "cmask";
	cpc_attr_t attr = { name, 1 };

	return cpc_set_add_request(
	    cpc, set, event, 0, own_privilege(), nattrs, &attr);
}

/* The number of PICs that count the event; *last is the last of them. */
static uint_t
pics_of(cpc_t *cpc, const char *event, uint_t *last)
{
	uint_t n = 0;

	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (pic_counts(cpc, event, pic)) {
			*last = pic;
			n++;
		}
	}
	return n;
}

/*
 * CPC-BIND-22, CPC-PCBE-04: a fixed PIC takes no counter mask.  So the request
 * with a mask gets another PIC, whichever request it is.  At most one
 * instruction completes in a cycle, so a mask of 1 does not change the count.
 */
CPC_TEST(a_request_with_an_attribute_leaves_the_fixed_pic)
{
	cpc_reqinfo_t info = { 0 };
	uint_t fixed = 0, n;

	if (!have_event(cpc, INTEL_FIXED) || !have_event(cpc, INTEL_INS))
		SKIP("this machine lacks " INTEL_FIXED " or " INTEL_INS);
	n = pics_of(cpc, INTEL_INS, &fixed);
	EXPECT(pic_counts(cpc, INTEL_FIXED, fixed));
	for (uint_t with = 0; with < n; with++) {
		cpc_set_t *set = cpc_set_create(cpc);

		for (uint_t i = 0; i < n; i++)
			EXPECT_EQ(
			    add_cmask(cpc, set, INTEL_INS, i == with), (int)i);
		if (EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0)) {
			EXPECT_EQ(
			    cpc_request_info(cpc, set, (int)with, &info), 0);
			EXPECT(info.ri_picnum != fixed);
			work();
			EXPECT(sampled(cpc, set, (int)with) > 0);
		}
		cpc_set_destroy(cpc, set);
	}
}

/* CPC-BIND-07 */
CPC_TEST(too_few_pics_are_named)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char text[100];
	uint_t pic = 0;

	if (!have_event(cpc, INTEL_FIXED) || !have_event(cpc, INTEL_INS))
		SKIP("this machine lacks " INTEL_FIXED " or " INTEL_INS);
	EXPECT_EQ(pics_of(cpc, INTEL_FIXED, &pic), 1);
	add(cpc, set, INTEL_INS);
	add(cpc, set, INTEL_FIXED);
	add(cpc, set, INTEL_FIXED);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	snprintf(text, sizeof text,
	    "Hardware resource unavailable: requests 1-2 can be on PIC %u "
	    "alone\n",
	    pic);
	EXPECT(strcmp(test_detail.text, text) == 0);
}

/* The event needs an extra MSR that the emulator lacks. */
CPC_TEST(a_missing_register_is_named)
{
	static const char event[] = "OFFCORE_RESPONSE_0:DMND_DATA_RD";

	if (!have_event(cpc, event))
		SKIP("this machine lacks OFFCORE_RESPONSE_0");
	cpc_set_t *set = set_of(cpc, event);
	if (cpc_bind_curlwp(cpc, set, 0) == 0)
		SKIP("needs a machine without MSR_OFFCORE_RSP_0");
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	EXPECT(strcmp(test_detail.text,
		   "Hardware resource unavailable: request 0: "
		   "this CPU lacks MSR_OFFCORE_RSP_0 (0x1a6)\n") == 0);
}

/* A notify request takes a helper PIC, too: one above the half. */
CPC_TEST(a_missing_helper_is_named)
{
	cpc_set_t *set = cpc_set_create(cpc);
	struct barecpc_stat before = { 0 }, bound = { 0 };
	char text[120];
	uint_t n;

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	NEEDS_INSTRUCTIONS();
	add_flags(cpc, set, INS_EVENT, own_privilege() | CPC_OVF_NOTIFY_EMT);
	payload_stat(&before);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	payload_stat(&bound);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	if (bound.bs_pics - before.bs_pics != 2)
		SKIP("overflows need no helper PIC here");
	for (n = 1; n <= cpc_npic(cpc) / 2; n++)
		add_flags(
		    cpc, set, INS_EVENT, own_privilege() | CPC_OVF_NOTIFY_EMT);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	/* npic - n PICs are left, helpers of the first requests. */
	snprintf(text, sizeof text,
	    "Hardware resource unavailable: request %u: overflow "
	    "notification needs a second PIC as helper; none is free\n",
	    cpc_npic(cpc) - n);
	EXPECT(strcmp(test_detail.text, text) == 0);
}
