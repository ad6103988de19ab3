/* Sets and requests, on the machine's own backend. */
#include "tests/lib/image/cpc_test.h"

#include <string.h>

TEST_KEEPS(16);

static char picnum[] = "picnum";

static int
add_name(cpc_t *cpc, cpc_set_t *set, const char *event)
{
	return cpc_set_add_request(cpc, set, event, 0, CPC_COUNT_USER, 0, NULL);
}

static int
add_attr(cpc_t *cpc, cpc_set_t *set, char *name, uint64_t value)
{
	cpc_attr_t attr = { name, value };

	return cpc_set_add_request(
	    cpc, set, ANY_EVENT, 0, CPC_COUNT_USER, 1, &attr);
}

#define EXPECT_ADD_FAILS(call, code)                                           \
	EXPECT_REPORTED(call, EINVAL, "cpc_set_add_request", code)

/* CPC-SET-01, CPC-SET-02, CPC-SET-03 */
CPC_TEST(stale_and_foreign_sets_are_einval)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *a = cpc_set_create(cpc), *b = cpc_set_create(cpc);

	EXPECT(a != b);
	EXPECT_ERRNO(cpc_set_destroy(other, a), EINVAL);
	EXPECT_EQ(cpc_set_destroy(cpc, a), 0);
	EXPECT_ERRNO(cpc_set_destroy(cpc, a), EINVAL);
	EXPECT(cpc_set_create(cpc) != a);
	EXPECT_ERRNO(cpc_set_destroy(cpc, a), EINVAL);
	cpc_close(other);
}

/* CPC-SET-04, CPC-SET-05 */
CPC_TEST(destroy_unbinds_and_leaves_buffers)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t value = 0;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	work();
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_set_destroy(cpc, set), 0);
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL);
	EXPECT_EQ(cpc_buf_get(cpc, buf, 0, &value), 0);
	EXPECT(value > 0);
	EXPECT_EQ(cpc_buf_destroy(cpc, buf), 0);
}

/* CPC-REQ-01, CPC-REQ-02, CPC-REQ-03 */
CPC_TEST(unknown_names_consume_no_index)
{
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(add_name(cpc, set, ANY_EVENT), 0);
	EXPECT_ADD_FAILS(add_name(cpc, set, "no_such"), CPC_INVALID_EVENT);
	EXPECT_ADD_FAILS(add_name(cpc, set, "papi_tot_cyc"), CPC_INVALID_EVENT);
	EXPECT_EQ(add_name(cpc, set, ANY_EVENT), 1);
}

/* CPC-REQ-04: with the image's own strtol(3). */
CPC_TEST(numbers_are_what_strtol_takes_whole)
{
	static const char *const bad[] = { "0x3cz", "", "0x",
		"99999999999999999999" };
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(add_name(cpc, set, "0x3c"), 0);
	EXPECT_EQ(add_name(cpc, set, "60"), 1);
	EXPECT_EQ(add_name(cpc, set, "074"), 2);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		EXPECT_ADD_FAILS(add_name(cpc, set, bad[i]), CPC_INVALID_EVENT);
}

/* CPC-REQ-05, CPC-REQ-06, CPC-REQ-08, CPC-REQ-10 */
CPC_TEST(attributes_and_flags_are_checked)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char unknown[] = "no_such", empty[] = "";

	EXPECT_ADD_FAILS(add_attr(cpc, set, unknown, 1), CPC_INVALID_ATTRIBUTE);
	EXPECT_ADD_FAILS(add_attr(cpc, set, empty, 1), CPC_INVALID_ATTRIBUTE);
	EXPECT_ADD_FAILS(
	    add_attr(cpc, set, picnum, cpc_npic(cpc)), CPC_INVALID_PICNUM);
	EXPECT_ADD_FAILS(
	    cpc_set_add_request(cpc, set, ANY_EVENT, 0, 0x20, 0, NULL),
	    CPC_REQ_INVALID_FLAGS);
	EXPECT_SILENT(
	    cpc_set_add_request(cpc, set, ANY_EVENT, 0, 0, 1, NULL), EINVAL);
}

/* CPC-REQ-09 */
CPC_TEST(no_privilege_counts_nothing)
{
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(cpc_set_add_request(cpc, set, ANY_EVENT, 5, 0, 0, NULL), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	work();
	EXPECT_EQ(sampled(cpc, set, 0), 5);
}

/* CPC-REQ-13, CPC-REQ-15 */
CPC_TEST(bound_sets_take_no_request)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_SILENT(add_name(cpc, set, ANY_EVENT), EINVAL);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	for (uint_t i = 1; i <= cpc_npic(cpc); i++)
		EXPECT_EQ(add_name(cpc, set, ANY_EVENT), i);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, set, 0), EINVAL);
}

struct seen {
	int n;
	int index[4];
	uint64_t preset[4];
	uint_t flags[4];
	int nattrs[4];
	uint64_t attr[4];
};

static void
see_request(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	struct seen *seen = arg;

	if (!EXPECT(seen->n < 4))
		return;
	EXPECT(strcmp(event, ANY_EVENT) == 0);
	seen->index[seen->n] = index;
	seen->preset[seen->n] = preset;
	seen->flags[seen->n] = flags;
	seen->nattrs[seen->n] = nattrs;
	if (nattrs > 0)
		seen->attr[seen->n] = attrs[0].ca_val;
	seen->n++;
}

/* CPC-WALK-01, CPC-WALK-02, CPC-WALK-03, CPC-WALK-04, CPC-REQ-11 */
CPC_TEST(walk_shows_what_was_added)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char name[] = "picnum";
	struct seen seen = { 0 };

	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, ANY_EVENT, 7, CPC_COUNT_SYSTEM, 0, NULL),
	    0);
	EXPECT_EQ(add_attr(cpc, set, name, 1), 1);
	memset(name, 'x', sizeof name - 1);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_preset(cpc, 0, 8), 0);
	EXPECT_EQ(cpc_set_request_preset(cpc, set, 1, 9), 0);
	cpc_walk_requests(cpc, set, &seen, see_request);
	REQUIRE(seen.n == 2);
	EXPECT_EQ(seen.index[0], 1);
	EXPECT_EQ(seen.preset[0], 9);
	EXPECT_EQ(seen.nattrs[0], 1);
	EXPECT_EQ(seen.attr[0], 1);
	EXPECT_EQ(seen.index[1], 0);
	EXPECT_EQ(seen.preset[1], 7);
	EXPECT_EQ(seen.flags[1], CPC_COUNT_SYSTEM);
	EXPECT_EQ(seen.nattrs[1], 0);
}
