/*
 * Names of events and attributes: fetched when a handle is opened, walked
 * from then on.
 */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>

/* Cut the text at its NULs. */
static bool
list_index(struct cpci_list *li, size_t bytes)
{
	const char *at, *end = li->li_text + bytes;
	unsigned n = 0;

	for (at = li->li_text; at < end; at += strlen(at) + 1)
		n++;
	if ((li->li_name = calloc(n + 1, sizeof *li->li_name)) == NULL)
		return false;
	for (at = li->li_text; at < end; at += strlen(at) + 1)
		li->li_name[li->li_n++] = at;
	return true;
}

bool
cpci_list_fetch(struct cpci_list *li, enum cpc_op op, uintptr_t arg)
{
	intptr_t bytes = cpc_syscall(op, arg, 0, 0, 0);

	if (bytes < 0 || (li->li_text = malloc((size_t)bytes + 1)) == NULL)
		return false;
	if (cpc_syscall(op, arg, (uintptr_t)li->li_text, (uintptr_t)bytes, 0) !=
		bytes ||
	    !list_index(li, (size_t)bytes)) {
		cpci_list_free(li);
		return false;
	}
	return true;
}

void
cpci_list_free(struct cpci_list *li)
{
	free(li->li_text);
	free(li->li_name);
	memset(li, 0, sizeof *li);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every name once, in alphabetical order. */
static bool
list_union(struct cpci_list *all, const struct cpci_list *li, unsigned nli)
{
	unsigned i, n = 0;

	for (i = 0; i < nli; i++)
		n += li[i].li_n;
	if ((all->li_name = calloc(n + 1, sizeof *all->li_name)) == NULL)
		return false;
	for (i = n = 0; i < nli; i++) {
		memcpy(&all->li_name[n], li[i].li_name,
		    li[i].li_n * sizeof *all->li_name);
		n += li[i].li_n;
	}
	qsort(all->li_name, n, sizeof *all->li_name, by_name);
	for (i = 0; i < n; i++) {
		if (i == 0 ||
		    strcmp(all->li_name[i], all->li_name[all->li_n - 1]) != 0)
			all->li_name[all->li_n++] = all->li_name[i];
	}
	return true;
}

bool
cpci_events_fetch(cpc_t *cpc)
{
	unsigned pic;

	cpc->c_events = calloc(cpc->c_npic, sizeof *cpc->c_events);
	if (cpc->c_events == NULL)
		return false;
	for (pic = 0; pic < cpc->c_npic; pic++) {
		if (!cpci_list_fetch(
			&cpc->c_events[pic], CPC_OP_LIST_EVENTS, pic))
			return false;
	}
	return list_union(&cpc->c_all, cpc->c_events, cpc->c_npic);
}

/* Does strtol(3), base 0, take all of it? */
static bool
is_number(const char *event, long *value)
{
	int err = errno;
	char *end;
	bool all;

	errno = 0;
	*value = strtol(event, &end, 0);
	all = *event != '\0' && *end == '\0' && errno == 0;
	errno = err;
	return all;
}

bool
cpci_event(const char *event, struct cpc_event *ev)
{
	bool number;
	long value;

	if (event == NULL || strlen(event) >= CPC_MAX_EVENT_LEN)
		return false;
	number = is_number(event, &value);
	return cpc_syscall(CPC_OP_EVENT, (uintptr_t)event, number,
		   (uintptr_t)value, (uintptr_t)ev) == 0;
}

static bool
is_generic(const char *name)
{
	return strncmp(name, "PAPI", 4) == 0;
}

static void
walk_all(
    cpc_t *cpc, bool generic, void *arg, void (*action)(void *, const char *))
{
	unsigned i;

	if (cpc == NULL || action == NULL) {
		errno = EINVAL;
		return;
	}
	for (i = 0; i < cpc->c_all.li_n; i++) {
		if (is_generic(cpc->c_all.li_name[i]) == generic)
			action(arg, cpc->c_all.li_name[i]);
	}
}

static void
walk_pic(cpc_t *cpc, uint_t picno, bool generic, void *arg,
    void (*action)(void *, uint_t, const char *))
{
	const struct cpci_list *li;
	unsigned i;

	if (cpc == NULL || action == NULL || picno >= cpc->c_npic) {
		errno = EINVAL;
		return;
	}
	li = &cpc->c_events[picno];
	for (i = 0; i < li->li_n; i++) {
		if (is_generic(li->li_name[i]) == generic)
			action(arg, picno, li->li_name[i]);
	}
}

void
cpc_walk_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event))
{
	walk_all(cpc, false, arg, action);
}

void
cpc_walk_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event))
{
	walk_pic(cpc, picno, false, arg, action);
}

void
cpc_walk_generic_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event))
{
	walk_all(cpc, true, arg, action);
}

void
cpc_walk_generic_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event))
{
	walk_pic(cpc, picno, true, arg, action);
}

void
cpc_walk_attrs(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *attr))
{
	unsigned i;

	if (cpc == NULL || action == NULL) {
		errno = EINVAL;
		return;
	}
	for (i = 0; i < cpc->c_attrs.li_n; i++)
		action(arg, cpc->c_attrs.li_name[i]);
	action(arg, "picnum");
}
