/*
 * A name counts what its vendor's code counts.  If the emulator does not model
 * the code, the name is refused.
 *
 * The archive's file vendor/codes has names, each with the raw event that
 * tests/cli/events/vendor_codes.sh made from the vendor's answers.  Both are
 * counted alone in user mode, so their counts of a loop are equal.
 */
#include <stdio.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(32);

#define SHORT 100
#define LONG  600

/* The event's count of LONG - SHORT iterations; false if it is refused. */
static bool
count_alone(cpc_t *cpc, const char *event, uint64_t *value)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_buf_t *buf;
	bool bound = cpc_set_add_request(
			 cpc, set, event, 0, CPC_COUNT_USER, 0, NULL) == 0 &&
	             cpc_bind_curlwp(cpc, set, 0) == 0;

	if (bound) {
		buf = cpc_buf_create(cpc, set);
		spin_sampled(cpc, set, buf, SHORT); /* into the caches */
		*value = spin_sampled(cpc, set, buf, LONG);
		*value -= spin_sampled(cpc, set, buf, SHORT);
		cpc_buf_destroy(cpc, buf);
	}
	cpc_set_destroy(cpc, set);
	return bound;
}

CPC_TEST(a_name_counts_what_its_vendors_code_does)
{
	FILE *f = fopen("/vendor/codes", "r");
	unsigned counted = 0, refused = 0, moved = 0;
	char name[160], code[160];

	REQUIRE(f != NULL);
	while (fscanf(f, "%159s %159s", name, code) == 2) {
		uint64_t value[2] = { 0 };
		bool by_code = count_alone(cpc, code, &value[1]);
		bool by_name = count_alone(cpc, name, &value[0]);

		if (!EXPECT_EQ(by_name, by_code) ||
		    !EXPECT_EQ(value[0], value[1]))
			test_note("events: %s and %s", name, code);
		counted += by_code;
		refused += !by_code;
		moved += value[1] != 0;
	}
	fclose(f);
	printf("# %u counted, %u of them not 0, %u refused\n", counted, moved,
	    refused);
	EXPECT(moved >= 3);
}
