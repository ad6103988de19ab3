/*
 * cpc_set_create(3CPC), cpc_buf_create(3CPC): a set of several requests, its
 * buffers and their arithmetic, with the errors of both pages.
 */
#include "common.h"

#include <string.h>
#include <sys/time.h>

const char program[] = "v2_sample";

static int walked;

static void
walk(void *arg, int index, const char *event, uint64_t preset, uint_t flags,
    int nattrs, const cpc_attr_t *attrs)
{
	CHECK(arg == &walked && (index == 0 || index == 1));
	CHECK(strcmp(event, EVENT) == 0);
	EQUAL(preset, index == 0 ? 5 : 0);
	EQUAL(flags, CPC_COUNT_USER);
	EQUAL(nattrs, index == 0 ? 1 : 0);
	if (nattrs == 1)
		CHECK(strcmp(attrs[0].ca_name, "picnum") == 0 &&
		      attrs[0].ca_val == 1);
	walked |= 1 << index;
}

int
main(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	cpc_t *cpc2 = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = cpc_set_create(cpc), *other = cpc_set_create(cpc);
	uint64_t val, start, once[2];
	char name[] = "picnum";
	cpc_attr_t attr = { name, 1 };
	int ind0, ind1, i;

	CHECK(cpc != NULL && cpc2 != NULL && set != NULL && other != NULL);
	FAILS(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	FAILS(cpc_set_add_request(
		  cpc, set, "no_such", 0, CPC_COUNT_USER, 0, NULL),
	    EINVAL);
	FAILS(cpc_set_add_request(cpc2, set, EVENT, 0, CPC_COUNT_USER, 0, NULL),
	    EINVAL);
	ind0 =
	    cpc_set_add_request(cpc, set, EVENT, 5, CPC_COUNT_USER, 1, &attr);
	ind1 = cpc_set_add_request(cpc, set, EVENT, 0, CPC_COUNT_USER, 0, NULL);
	/* "allowing the application to dispose of it immediately" */
	memset(name, 'x', sizeof(name) - 1);
	memset(&attr, 0xff, sizeof(attr));
	CHECK(ind0 >= 0 && ind1 >= 0 && ind0 != ind1);
	cpc_walk_requests(cpc, set, &walked, walk);
	EQUAL(walked, 3);
	CHECK(cpc_set_add_request(cpc, other, EVENT, 77, 0, 0, NULL) == 0);

	cpc_buf_t *before = cpc_buf_create(cpc, set);
	cpc_buf_t *after = cpc_buf_create(cpc, set);
	cpc_buf_t *diff = cpc_buf_create(cpc, set);
	cpc_buf_t *sum = cpc_buf_create(cpc, set);
	cpc_buf_t *foreign = cpc_buf_create(cpc, other);
	CHECK(before && after && diff && sum && foreign);
	FAILS(cpc_set_sample(cpc, set, before), EINVAL);
	FAILS(cpc_unbind(cpc, set), EINVAL);
	FAILS(cpc_bind_curlwp(cpc2, set, 0), EINVAL);
	FAILS(cpc_set_destroy(cpc2, set), EINVAL);
	CHECK(cpc_bind_curlwp(cpc, set, 0) == 0);
	FAILS(cpc_set_sample(cpc, set, foreign), EINVAL);
	FAILS(cpc_set_sample(cpc2, set, before), EINVAL);

	cpc_buf_zero(cpc, sum);
	for (i = 1; i <= 2; i++) {
		CHECK(cpc_set_sample(cpc, set, before) == 0);
		loop(1000 * i);
		CHECK(cpc_set_sample(cpc, set, after) == 0);
		cpc_buf_sub(cpc, diff, after, before);
		cpc_buf_add(cpc, sum, sum, diff);
		CHECK(cpc_buf_get(cpc, diff, ind0, &val) == 0);
		CHECK(cpc_buf_get(cpc, diff, ind1, &once[i - 1]) == 0);
		EQUAL(val, once[i - 1]);
		CHECK(cpc_buf_tick(cpc, diff) > 0);
		CHECK(cpc_buf_tick(cpc, diff) ==
		      cpc_buf_tick(cpc, after) - cpc_buf_tick(cpc, before));
	}
	EQUAL(once[1] - once[0], 2 * 1000);
	cpc_buf_get(cpc, sum, ind1, &val);
	EQUAL(val, once[0] + once[1]);
	hrtime_t hrt = gethrtime();
	CHECK(cpc_buf_hrtime(cpc, before) < cpc_buf_hrtime(cpc, after));
	CHECK(cpc_buf_hrtime(cpc, after) <= hrt);

	/* A buffer's values do not affect the counter. */
	cpc_buf_get(cpc, after, ind0, &start);
	CHECK(cpc_buf_set(cpc, after, ind0, 1ull << 60) == 0);
	cpc_buf_copy(cpc, diff, after);
	cpc_buf_get(cpc, diff, ind0, &val);
	EQUAL(val, 1ull << 60);
	CHECK(cpc_set_sample(cpc, set, after) == 0);
	cpc_buf_get(cpc, after, ind0, &val);
	CHECK(val > start && val < start + 2000);
	FAILS(cpc_buf_get(cpc, after, 99, &val), EINVAL);

	CHECK(cpc_unbind(cpc, set) == 0);
	FAILS(cpc_set_sample(cpc, set, after), EINVAL);
	/* Without CPC_COUNT_USER and CPC_COUNT_SYSTEM nothing is counted. */
	CHECK(cpc_bind_curlwp(cpc, other, 0) == 0);
	loop(1000);
	CHECK(cpc_set_sample(cpc, other, foreign) == 0);
	CHECK(cpc_buf_get(cpc, foreign, 0, &val) == 0);
	EQUAL(val, 77);
	CHECK(cpc_buf_destroy(cpc, diff) == 0);
	CHECK(cpc_set_destroy(cpc, other) == 0);
	CHECK(cpc_close(cpc) == 0 && cpc_close(cpc2) == 0);
	return finish();
}
