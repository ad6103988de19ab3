/*
 * cpc_open(3CPC), cpc_npic(3CPC): versions, names, and walks.  Each event that
 * a walk gives for a counter can be bound to that counter with picnum.
 */
#include "common.h"

#include <string.h>

const char program[] = "v2_query";

struct names {
	cpc_t *cpc;
	char **name;
	int count, bound;
};

static void
collect(void *arg, const char *event)
{
	struct names *all = arg;

	for (int i = 0; i < all->count; i++)
		if (strcmp(all->name[i], event) == 0)
			error("event %s comes twice", event);
	all->name = realloc(all->name, (all->count + 1) * sizeof(char *));
	all->name[all->count++] = strdup(event);
}

static void
bind_one(void *arg, uint_t picno, const char *event)
{
	struct names *all = arg;
	cpc_attr_t attr = { "picnum", picno };
	cpc_set_t *set = cpc_set_create(all->cpc);
	int i;

	for (i = 0; i < all->count; i++)
		if (strcmp(all->name[i], event) == 0)
			break;
	if (i == all->count)
		error("event %s of pic %u is not in the list of all", event,
		    picno);
	if (cpc_set_add_request(
		all->cpc, set, event, 0, CPC_COUNT_USER, 1, &attr) == -1)
		error("cannot add %s", event);
	if (cpc_bind_curlwp(all->cpc, set, 0) == -1)
		error("cannot bind %s to pic %u: %s", event, picno,
		    strerror(errno));
	CHECK(cpc_set_destroy(all->cpc, set) == 0);
	all->bound++;
}

static void
count_attr(void *arg, const char *attr)
{
	CHECK(attr[0] != '\0');
	++*(int *)arg;
}

int
main(void)
{
	struct names all = { 0 }, generic = { 0 };
	int attrs = 0;
	cpc_t *cpc;

	errno = 0;
	CHECK(cpc_open(CPC_VER_CURRENT + 100) == NULL && errno == EINVAL);
	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	all.cpc = generic.cpc = cpc;
	CHECK(cpc_cciname(cpc) != NULL && cpc_cciname(cpc)[0] != '\0');
	CHECK(cpc_cpuref(cpc) != NULL && cpc_cpuref(cpc)[0] != '\0');
	CHECK(cpc_npic(cpc) > 0);
	CHECK(cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT);
	cpc_walk_events_all(cpc, &all, collect);
	cpc_walk_generic_events_all(cpc, &generic, collect);
	cpc_walk_attrs(cpc, &attrs, count_attr);
	CHECK(all.count > 0 && generic.count > 0 && attrs > 0);
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		cpc_walk_events_pic(cpc, pic, &all, bind_one);
		cpc_walk_generic_events_pic(cpc, pic, &generic, bind_one);
	}
	CHECK(all.bound >= all.count && generic.bound >= generic.count);
	CHECK(cpc_close(cpc) == 0);
	return finish();
}
