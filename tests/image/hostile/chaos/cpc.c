/* Acts on counters: sets stay bound until the LWP or its process ends. */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>

#include "tests/lib/image/cpc_test.h"

static cpc_set_t *
make_set(cpc_t *cpc, bool notify)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint_t flags = own_privilege() | (notify ? CPC_OVF_NOTIFY_EMT : 0);
	uint64_t preset = notify ? -(1 + chaos_below(20000)) : 0;

	if (set == NULL)
		return NULL;
	for (uint64_t n = 1 + chaos_below(2); n > 0; n--) {
		if (cpc_set_add_request(
			cpc, set, INS_EVENT, preset, flags, 0, NULL) == -1)
			return NULL; /* no memory, or no such interrupt */
	}
	return set;
}

/* The bind may fail, because other LWPs take the counters. */
static bool
bind_set(cpc_t *cpc, cpc_set_t *set)
{
	int cpu = (int)chaos_below((unsigned)chaos.ch_cpus), err;

	if (chaos_one_in(8))
		err = cpc_bind_cpu(cpc, cpu, set, 0);
	else
		err = cpc_bind_curlwp(
		    cpc, set, chaos_one_in(3) ? CPC_BIND_LWP_INHERIT : 0);
	return err == 0;
}

static bool
sample_count(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t *value)
{
	return cpc_set_sample(cpc, set, buf) == 0 &&
	       cpc_buf_get(cpc, buf, 0, value) == 0;
}

/* The count is at least the loop's, unless an overflow stops it. */
static void
count_loop(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, bool stops)
{
	uint64_t turns = chaos_below(3000), before, after;

	if (!sample_count(cpc, set, buf, &before))
		return;
	spin_loop(turns);
	if (sample_count(cpc, set, buf, &after) && !stops)
		CHAOS_EXPECT(after - before >= SPIN_INSNS * turns);
}

void
chaos_act_count(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	bool notify = chaos_one_in(2);
	cpc_buf_t *buf;
	cpc_set_t *set;

	if (cpc == NULL) {
		CHAOS_EXPECT(errno == ENOMEM || errno == ENOSYS);
		return;
	}
	if ((set = make_set(cpc, notify)) != NULL && bind_set(cpc, set)) {
		if ((buf = cpc_buf_create(cpc, set)) != NULL)
			count_loop(cpc, set, buf, notify);
		/* Sometimes the handle stays open and the set bound. */
		if (chaos_one_in(4))
			return;
		if (chaos_one_in(2))
			cpc_unbind(cpc, set);
	}
	cpc_close(cpc);
}
