/*
 * Names of events and attributes, as the kernel lists them.
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

/* Most lists fit at once; a table of events is longer. */
#define FIRST_ROOM 4096

bool
cpci_list_fetch(
    struct cpci_list *li, enum cpc_op op, uintptr_t arg, bool generic)
{
	size_t room = FIRST_ROOM;
	intptr_t bytes;
	char *text;

	for (;;) {
		if ((text = realloc(li->li_text, room)) == NULL)
			break;
		li->li_text = text;
		bytes = cpc_syscall(op, arg, (uintptr_t)text, room, generic);
		if (bytes < 0)
			break;
		if ((size_t)bytes <= room) {
			if (list_index(li, (size_t)bytes))
				return true;
			break;
		}
		room = (size_t)bytes;
	}
	cpci_list_free(li);
	return false;
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

void
cpci_event_why(const char *event, char *buf, size_t size)
{
	intptr_t bytes = 0;

	if (event != NULL && strlen(event) < CPC_MAX_EVENT_LEN)
		bytes = cpc_syscall(CPC_OP_EVENT_WHY, (uintptr_t)event,
		    (uintptr_t)buf, size, 0);
	if (bytes <= 0 || (size_t)bytes > size)
		*buf = '\0';
}

/* Fetched for each walk: a table's names are of no use to most handles. */
static void
walk_all(
    cpc_t *cpc, bool generic, void *arg, void (*action)(void *, const char *))
{
	struct cpci_list *li, all = { 0 };
	unsigned i, n = 0;
	bool fetched;

	if (cpc == NULL || action == NULL) {
		errno = EINVAL;
		return;
	}
	if ((li = calloc(cpc->c_npic, sizeof *li)) == NULL)
		return;
	while (n < cpc->c_npic &&
	       cpci_list_fetch(&li[n], CPC_OP_LIST_EVENTS, n, generic))
		n++;
	fetched = n == cpc->c_npic && list_union(&all, li, n);
	for (i = 0; fetched && i < all.li_n; i++)
		action(arg, all.li_name[i]);
	free(all.li_name);
	while (n > 0)
		cpci_list_free(&li[--n]);
	free(li);
	if (!fetched)
		errno = ENOMEM;
}

static void
walk_pic(cpc_t *cpc, uint_t picno, bool generic, void *arg,
    void (*action)(void *, uint_t, const char *))
{
	struct cpci_list li = { 0 };
	unsigned i;

	if (cpc == NULL || action == NULL || picno >= cpc->c_npic) {
		errno = EINVAL;
		return;
	}
	if (!cpci_list_fetch(&li, CPC_OP_LIST_EVENTS, picno, generic)) {
		errno = ENOMEM;
		return;
	}
	for (i = 0; i < li.li_n; i++)
		action(arg, picno, li.li_name[i]);
	cpci_list_free(&li);
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
