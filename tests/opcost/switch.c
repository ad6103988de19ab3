/* The costs of a switch, by sched_yield(2), and of a new LWP's whole life. */
#include "tests/opcost/opcost.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/usage.h"

static cpc_t *cpc;
static cpc_set_t *set;
static volatile bool ready, done;

static void *
yield_partner(void *arg)
{
	(void)arg;
	if (set != NULL)
		cost_bind(cpc, set);
	ready = true;
	while (!done)
		sched_yield();
	return NULL;
}

static void
yield_once(void)
{
	sched_yield();
}

void
cost_switch(const char *what, cpc_t *c, cpc_set_t *s, int n)
{
	pthread_t t;
	int err;

	cpc = c;
	set = s;
	ready = done = false;
	if (set != NULL)
		cost_bind(cpc, set);
	if ((err = pthread_create(&t, NULL, yield_partner, NULL)) != 0)
		fail(1, "an LWP: %s", strerror(err));
	while (!ready)
		sched_yield();
	/* A yield switches to the partner and back. */
	cost_row(what, n, cost_of(yield_once) / 2);
	done = true;
	pthread_join(t, NULL);
	if (set != NULL)
		cpc_unbind(cpc, set);
}

static void *
end_at_once(void *arg)
{
	return arg;
}

static void
create_join(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, end_at_once, NULL) == 0)
		pthread_join(t, NULL);
}

void
cost_create(cpc_t *c, cpc_set_t *s, int n)
{
	cost_row("create+join", n, cost_of(create_join));
	if (s == NULL)
		return;
	if (cpc_bind_curlwp(c, s, CPC_BIND_LWP_INHERIT) == -1)
		cpc_error_of_bind();
	cost_row("create+inherit", n, cost_of(create_join));
	cpc_unbind(c, s);
}
