/*
 * The events of a machine: the names that its kind of PMU has on every CPU,
 * the names of its CPU's table, and numbers.  The kernel describes the PMU,
 * and validates the codes.  Included by cpc/ and by programs.
 */
#pragma once

#include "events/events.h"
#include "include/sys/cpc.h"

struct machine {
	struct cpc_pmu mc_pmu;
	struct events mc_table; /* es_pmu is NULL if it is absent */
	/* Why it is absent, part of a line; "" for the software PMU */
	char mc_why[256];
	bool mc_loaded; /* atomic: mc_table and mc_why are set */
	/*
	 * The core types, if CPUs differ.  Then mc_pmu is what all share, and
	 * mc_table and mc_why are the first type's.
	 */
	struct machine *mc_types;
	unsigned mc_ntypes;
};

/* A kind of PMU: the events that it has on every CPU, and its codes. */
struct machine_kind {
	const void *mk_first; /* its events: each begins with its name */
	unsigned mk_n;
	size_t mk_bytes; /* of one */
	enum event_kind mk_kind;
	bool mk_capitals; /* its manuals have its names in capitals */
	/*
	 * Set *ce to the nth own event, to a number, or to an event of the
	 * table, whose ce_flags the caller has set.  Returns the PICs that
	 * count it; 0 if it is absent.  mk_tabled is NULL if this kind has no
	 * tables.
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

/* As machine_event(), but not for numbers.  The name needs no padding. */
bool machine_name(
    const struct machine *mc, const char *name, struct cpc_event *ce);
/* Find the table of the CPU in the files of a folder. */
void machine_load(struct machine *mc, const char *folder);

/*
 * Resolve a name, or a number if is_num is set.  EVENT_WORD bytes after the
 * name's end may be read.  Returns false if no PIC counts it.
 */
bool machine_event(const struct machine *mc, const char *name, bool is_num,
    uint64_t num, struct cpc_event *ce);
/*
 * Give an event an attribute, enum cpc_attr_id or less than 0.  On Intel a unit
 * mask makes another code, so the event gets the PICs of that.
 */
void machine_set_attr(
    const struct machine *mc, int attr, uint64_t value, struct cpc_event *ce);
/*
 * Is the table needed for a name or a number?  On Intel the names with a
 * number's code say which PICs count it.
 */
bool machine_needs_table(
    const struct machine *mc, const char *name, bool is_num);
/* Is this one of the machine's own names? */
bool machine_is_architected(const struct machine *mc, const char *name);
/* Why a name was refused, in buf, cut to size bytes; "" if it is not known. */
void machine_why(
    const struct machine *mc, const char *name, char *buf, size_t size);
/* Is a name that was refused an event that this machine lacks? */
bool machine_knows(const struct machine *mc, const char *name);

/*
 * The next name that one of the PICs counts, generic or not; false past the
 * last.  Clear *ml before the first call.  buf has `size` bytes and EVENT_WORD
 * more.
 */
struct machine_list {
	unsigned mcl_own, mcl_preset;
	struct event_walk mcl_walk;
};
bool machine_next(const struct machine *mc, uint64_t pics, bool generic,
    struct machine_list *ml, char *buf, size_t size);

/*
 * core_type.c: the same for a machine with core types, or for one of them.
 * machine_why_typed() returns false if no type has the name.
 */
bool machine_event_typed(const struct machine *mc, const char *name,
    bool is_num, uint64_t num, struct cpc_event *ce);
bool machine_next_shared(const struct machine *mc, uint64_t pics, bool generic,
    struct machine_list *ml, char *buf, size_t size);
bool machine_why_typed(
    const struct machine *mc, const char *name, char *buf, size_t size);
/* machine.c: the same for one PMU, whatever its core type. */
bool machine_event_alone(const struct machine *mc, const char *name,
    bool is_num, uint64_t num, struct cpc_event *ce);
void machine_why_alone(
    const struct machine *mc, const char *name, char *buf, size_t size);

/* The name of an attribute, or NULL. */
const char *machine_attr(enum cpc_attr_id id);

/* An x86 event select without enable, interrupt and levels. */
uint64_t event_select_only(const struct event_code *ec);

/* Is this an emulator that does not model the event select? */
bool machine_unmodelled(const struct cpc_pmu *pm, uint64_t select);

/* cpc/machine.c: this machine, with its table; NULL if it has no PMU. */
const struct machine *machine_here(void);
