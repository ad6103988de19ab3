/*
 * The events of a machine: the names that its kind of PMU has on every CPU,
 * those of its CPU's table, and numbers.  Included by cpc/ and by programs;
 * the kernel, which validates what comes of it, describes the PMU.
 */
#ifndef EVENTS_MACHINE_H
#define EVENTS_MACHINE_H

#include "events/events.h"
#include "include/sys/cpc.h"

struct machine {
	struct cpc_pmu mc_pmu;
	struct events mc_table; /* es_pmu NULL: none */
	/* Then this says why, part of a line; "": software has no table. */
	char mc_why[256];
	bool mc_loaded; /* atomic: these two were found */
};

/* What a kind of PMU knows by itself. */
struct machine_kind {
	const void *mk_first; /* its events: each begins with its name */
	unsigned mk_n;
	size_t mk_bytes; /* of one */
	enum event_kind mk_kind;
	/*
	 * The PICs that count its nth event, a number, an event of the table;
	 * 0: it is not there.  *ce, whose flags may be set, becomes that event.
	 * mk_tabled is NULL where there is no table.
	 */
	uint64_t (*mk_own)(
	    const struct cpc_pmu *pm, unsigned n, struct cpc_event *ce);
	uint64_t (*mk_number)(
	    const struct cpc_pmu *pm, uint64_t num, struct cpc_event *ce);
	uint64_t (*mk_tabled)(const struct cpc_pmu *pm,
	    const struct event_code *ec, struct cpc_event *ce);
};
extern const struct machine_kind machine_intel, machine_amd, machine_arm,
    machine_soft;

/* As machine_event(), of a name that is no number, however it ends. */
bool machine_name(
    const struct machine *mc, const char *name, struct cpc_event *ce);
/* Find the table of the CPU in the files of a folder. */
void machine_load(struct machine *mc, const char *folder);

/*
 * Resolve a name, which may be a number too.  EVENT_WORD bytes after its end
 * may be read.  False: it is no event that a PIC counts.
 */
bool machine_event(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce);
/* Does that need the table?  The machine's own names do not. */
bool machine_is_own(const struct machine *mc, const char *name);
/*
 * Why a name was refused, into buf as strlcpy() would; "" where there is no
 * more to say.
 */
void machine_why(
    const struct machine *mc, const char *name, char *buf, size_t size);
/* Is a name that was refused an event that this machine lacks? */
bool machine_knows(const struct machine *mc, const char *name);

/*
 * The next event that one of the PICs counts, of the generic names or of the
 * others; false past the last.  *ml is all 0 before the first; EVENT_WORD bytes
 * more than `size` are there.
 */
struct machine_list {
	unsigned mcl_own, mcl_preset;
	struct event_walk mcl_walk;
};
bool machine_next(const struct machine *mc, uint64_t pics, bool generic,
    struct machine_list *ml, char *buf, size_t size);

/* The name of an attribute, or NULL. */
const char *machine_attr(enum cpc_attr_id id);

/* What a name says of an x86 event select: no enable, no levels. */
uint64_t event_select_only(const struct event_code *ec);

/* Does an emulator not model the event select? */
bool machine_unmodelled(const struct cpc_pmu *pm, uint64_t select);

/* cpc/machine.c: this machine, with its table; NULL: it has no PMU. */
const struct machine *machine_here(void);

#endif /* EVENTS_MACHINE_H */
