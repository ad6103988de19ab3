/*
 * The generator of the tables of event names (events/table.h).  Included
 * within events/mktables/, which scripts/mkevents compiles with libpfm4's
 * source.
 *
 * A family's file makes drafts of libpfm4's rows.  vendor_facts.py
 * makes them of a vendor's facts.  rows.c turns drafts into rows, and write.c
 * prints the arrays.
 */
#ifndef EVENTS_MKTABLES_TABLES_H
#define EVENTS_MKTABLES_TABLES_H

#include <stdbool.h>

#include <pfmlib_priv.h>

#include "events/table.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* libpfm4's PMUs that share a table; bit n of models is the nth. */
#define MAX_TABLE 8
struct table {
	const pfmlib_pmu_t *t_pmu[MAX_TABLE];
	unsigned t_npmu;
};

/* A unit mask as libpfm4 has it: names and aliases are still text. */
struct draft_umask {
	struct event_umask du_umask;
	const char *du_name, *du_equiv;
	uint64_t du_pics;  /* 0: those of the event */
	uint64_t du_extra; /* value of the extra MSR, if UM_EXTRA has one */
};
#define MAX_DRAFT_UMASKS 2048

/* An event as libpfm4 has it. */
struct draft {
	struct event_row dr_row;
	const char *dr_name, *dr_equiv;
	uint64_t dr_pics;
	struct draft_umask *dr_umask; /* dr_row.er_nlist of them */
};

/* A CPU that has a vendor's file, without the fields about rows. */
struct facts_pmu {
	struct event_pmu fp_pmu;
	unsigned fp_same; /* the first CPU with these events, perhaps this */
	unsigned fp_n;
	const struct draft *fp_draft;
};
/* vendor_facts.py writes them, for the vendor of the program. */
extern const struct facts_pmu facts_pmu[];
extern const unsigned facts_npmu;

/* How to read one of libpfm4's families of tables. */
struct family {
	const char *f_prefix; /* of its PMUs' names; "": any other */
	enum event_kind f_kind;
	/* Read the nth row of the table; false if it counts nothing. */
	bool (*f_read)(const struct table *t, unsigned n, struct draft *d);
	/* Set the fields that only this family has; may be NULL. */
	void (*f_pmu)(const pfmlib_pmu_t *p, struct event_pmu *ep);
};
extern const struct family intel_family, netburst_family, amd_family,
    arm_family;

/* pool.c: the arrays, as they grow. */
struct pool {
	const char *p_name;
	const char *p_type;
	size_t p_size; /* of one element */
	unsigned p_n;
	unsigned p_max;
	void *p_at;
};
extern struct pool pool[SECTION_FACTS];
/* Append n elements.  Returns the number of the first. */
unsigned pool_add(enum event_section s, const void *what, unsigned n);
/* The number of the first of n such elements; appends them if need be. */
unsigned pool_find(enum event_section s, const void *what, unsigned n);
uint16_t name_add(const char *name);
const char *name_at(unsigned name);

/* bits.c: libpfm4's flags to ours. */
struct bit {
	unsigned b_theirs, b_ours;
};
unsigned translate(
    const struct bit *b, unsigned n, unsigned theirs, const char *what);
/* The table's PMUs of this model; model 0: all of them. */
unsigned models_of(const struct table *t, unsigned model);

/* facts.c: make drafts of CPUs that share a table; returns how many. */
unsigned facts_drafts(
    const struct facts_pmu *fp, unsigned npmu, struct draft *all);

/* alias.c: aliases, and the default unit masks of groups. */
uint16_t alias_of_umask(const struct draft *d, unsigned place);
uint16_t alias_of_row(
    const struct draft *all, unsigned n, const struct draft *d);
uint16_t defaults_of(
    enum event_kind kind, const struct draft *d, unsigned model);

/* index.c: the hashes by which rows and unit masks are found. */
void index_add(const struct event_row *rows, unsigned n, struct event_pmu *ep);
void tags_add(void);
/* The index of a list of n unit masks, or 0 if it is short. */
uint16_t list_index(unsigned list, unsigned n);

/*
 * rows.c: add the rows of a table of libpfm4's, or of CPUs, and set the fields
 * of ep about them.
 */
void rows_add(
    const struct family *f, const struct table *t, struct event_pmu *ep);
void rows_add_facts(
    const struct facts_pmu *fp, unsigned npmu, struct event_pmu *ep);

/* The events that PAPI maps a preset to; papi.py writes them. */
struct papi_line {
	const char *pap_pmu, *pap_preset; /* NULL: past the last */
	unsigned pap_nevent;
	const char *pap_event[16]; /* libpfm4's names */
};
extern const struct papi_line papi_lines[];
/* presets.c: add the presets of each PMU. */
void presets_add(void);

/* preset_denylist.c: why a preset is not PAPI's event, or PRESET_EXACT. */
enum preset_why preset_denied(
    const char *pmu, const char *preset, const char *event);

/* architected.c: event and unit mask that the architecture gives it, or 0. */
uint64_t architected_code(const struct event_pmu *ep, const char *preset);

/* write.c: print all arrays. */
void write_all(const char *vendor, const char *first_line);

#endif /* EVENTS_MKTABLES_TABLES_H */
