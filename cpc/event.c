/* Resolves names of events, and walks over names of events and attributes. */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if strtol(3) with base 0 accepts the whole string. */
static bool
is_number(const char *event, long *value)
{
	int err = errno;
	char *end;

	errno = 0;
	*value = strtol(event, &end, 0);
	bool all = *event != '\0' && *end == '\0' && errno == 0;
	errno = err;
	return all;
}

/* Load the table of events, once.  The caller holds the handle's lock. */
static const struct machine *
machine_of(cpc_t *cpc)
{
	if (!cpc->c_machine.mc_loaded)
		machine_load(&cpc->c_machine, CPCI_EVENTS);
	return &cpc->c_machine;
}

/* machine_event() reads a name a word at a time, past its end. */
#define PADDED (CPC_MAX_EVENT_LEN + EVENT_WORD)

bool
cpci_event(cpc_t *cpc, unsigned type, const char *event, struct cpc_event *ev)
{
	const struct machine *mc =
	    type == 0 ? &cpc->c_machine : cpci_machine_of(cpc, type);
	int err = errno;
	long value;

	if (event != NULL && !cpc->c_machine.mc_loaded &&
	    machine_needs_table(mc, event, is_number(event, &value)))
		machine_of(cpc);
	if (!cpci_event_of(mc, event, ev))
		return false;
	errno = err; /* of a table's file that is absent, for example */
	return true;
}

bool
cpci_event_of(const struct machine *mc, const char *event, struct cpc_event *ev)
{
	char name[PADDED];
	size_t len;
	long value;

	if (event == NULL || (len = strlen(event)) >= CPC_MAX_EVENT_LEN)
		return false;
	memcpy(name, event, len);
	memset(name + len, 0, 1 + EVENT_WORD);
	bool number = is_number(event, &value);
	if (machine_event(mc, name, number, (uint64_t)value, ev))
		return true;
	cpc_syscall(CPC_OP_UNRESOLVED, 0, 0, 0, 0);
	return false;
}

void
cpci_event_why(cpc_t *cpc, const char *event, char *buf, size_t size)
{
	*buf = '\0';
	if (event != NULL && strlen(event) < CPC_MAX_EVENT_LEN)
		machine_why(&cpc->c_machine, event, buf, size);
}

static const struct machine *
machine_locked(cpc_t *cpc)
{
	sigset_t mask;

	cpci_lock(cpc, &mask);
	const struct machine *mc = machine_of(cpc);
	cpci_unlock(cpc, &mask);
	return mc;
}

/* Pass the names of all PICs to all(), or those of one PIC to one(). */
static void
walk(cpc_t *cpc, uint_t picno, bool generic, void *arg,
    void (*all)(void *, const char *),
    void (*one)(void *, uint_t, const char *))
{
	struct machine_list ml = { 0 };
	char name[PADDED];

	if (cpc == NULL || (all == NULL && one == NULL) ||
	    (one != NULL && picno >= cpc->c_npic)) {
		cpci_invalid();
		return;
	}
	while (machine_next(machine_locked(cpc),
	    one != NULL ? 1ULL << picno : ~0ULL, generic, &ml, name,
	    CPC_MAX_EVENT_LEN)) {
		if (one != NULL)
			one(arg, picno, name);
		else
			all(arg, name);
	}
}

void
cpc_walk_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event))
{
	walk(cpc, 0, false, arg, action, NULL);
}

void
cpc_walk_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event))
{
	walk(cpc, picno, false, arg, NULL, action);
}

void
cpc_walk_generic_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event))
{
	walk(cpc, 0, true, arg, action, NULL);
}

void
cpc_walk_generic_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event))
{
	walk(cpc, picno, true, arg, NULL, action);
}

void
cpc_walk_attrs(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *attr))
{
	if (cpc == NULL || action == NULL) {
		cpci_invalid();
		return;
	}
	for (unsigned i = 0; i < CPC_ATTR_IDS; i++) {
		if ((cpc->c_machine.mc_pmu.pm_attrs >> i & 1) != 0)
			action(arg, machine_attr((enum cpc_attr_id)i));
	}
	if (cpc->c_ntypes != 0)
		action(arg, "core_type");
	action(arg, "picnum");
}
