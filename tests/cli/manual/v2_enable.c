/*
 * cpc_enable(3CPC), with its example, and sets in turn.  With an argument it
 * is the application of the example, for cputrack.
 */
#include "common.h"

const char program[] = "v2_enable";

/* The example: harmless without cputrack. */
static int
application(uint64_t turns)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	loop(100000);
	if (cpc != NULL)
		(void)cpc_enable(cpc);
	loop(turns);
	if (cpc != NULL)
		(void)cpc_disable(cpc);
	loop(200000);
	return 0;
}

static cpc_t *cpc;

struct measured {
	cpc_set_t *set;
	cpc_buf_t *buf;
	int ind;
};

static struct measured
new_set(uint64_t preset)
{
	struct measured m;

	CHECK((m.set = cpc_set_create(cpc)) != NULL);
	m.ind = cpc_set_add_request(
	    cpc, m.set, EVENT, preset, CPC_COUNT_USER, 0, NULL);
	CHECK(m.ind != -1);
	CHECK((m.buf = cpc_buf_create(cpc, m.set)) != NULL);
	return m;
}

static uint64_t
value(struct measured m)
{
	uint64_t val;

	CHECK(cpc_set_sample(cpc, m.set, m.buf) == 0);
	CHECK(cpc_buf_get(cpc, m.buf, m.ind, &val) == 0);
	return val;
}

int
main(int argc, char *argv[])
{
	uint64_t v0, v1, v2 = 0;

	if (argc > 1)
		return application(strtoull(argv[1], NULL, 10));
	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	FAILS(cpc_enable(cpc), EINVAL);
	FAILS(cpc_disable(cpc), EINVAL);
	struct measured a = new_set(0);
	struct measured b = new_set(7000000);
	CHECK(cpc_bind_curlwp(cpc, a.set, 0) == 0);
	CHECK(cpc_disable(cpc) == 0);
	v0 = value(a);
	loop(100000);
	v1 = value(a);
	EQUAL(v1, v0);
	for (int i = 1; i <= 2; i++) {
		CHECK(cpc_enable(cpc) == 0);
		loop(1000 * i);
		CHECK(cpc_disable(cpc) == 0);
		v0 = v1;
		v1 = value(a);
		loop(100000);
		if (i == 1)
			v2 = v1 - v0;
	}
	EQUAL(v1 - v0 - v2, 2 * 1000);

	/* The other set takes the counters.  Each bind starts at the preset. */
	CHECK(cpc_bind_curlwp(cpc, b.set, 0) == 0);
	v0 = value(b);
	CHECK(v0 >= 7000000 && v0 < 7002000);
	FAILS(cpc_set_sample(cpc, a.set, a.buf), EINVAL);
	FAILS(cpc_unbind(cpc, a.set), EINVAL);
	for (int i = 0; i < 10; i++) {
		CHECK(cpc_unbind(cpc, b.set) == 0);
		CHECK(cpc_bind_curlwp(cpc, a.set, 0) == 0);
		loop(1000);
		v1 = value(a);
		CHECK(i == 0 || v1 == v2);
		v2 = v1;
		CHECK(cpc_unbind(cpc, a.set) == 0);
		CHECK(cpc_bind_curlwp(cpc, b.set, 0) == 0);
		v1 = value(b);
		CHECK(i == 0 || v1 == v0);
		v0 = v1;
	}
	/* Destroying a bound set frees the counters. */
	CHECK(cpc_set_destroy(cpc, b.set) == 0);
	FAILS(cpc_enable(cpc), EINVAL);
	cpc_close(cpc);
	return finish();
}
