/*
 * What makes the tables of event names, see events/table.h, of libpfm4's.
 * Included by events/mktables/, which scripts/mkevents compiles within that
 * library's source.
 *
 * A vendor's file reads the library's rows into drafts; rows.c makes of them
 * rows that refer to each other by number; write.c prints the arrays.
 */
#ifndef EVENTS_MKTABLES_TABLES_H
#define EVENTS_MKTABLES_TABLES_H

#include <stdbool.h>

#include <pfmlib_priv.h>

#include "events/table.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* A table of the library's, and the PMUs that have it: nth of them, bit n. */
struct table {
	const pfmlib_pmu_t *t_pmu[8];
	unsigned t_npmu;
};

/* A unit mask as read: its names and what it stands for are still text. */
struct draft_umask {
	struct event_umask du_umask;
	const char *du_name, *du_equiv;
	uint64_t du_pics; /* 0: the event's */
};

/* An event as read. */
struct draft {
	struct event_row dr_row;
	const char *dr_name, *dr_equiv;
	uint64_t dr_pics;
	struct draft_umask *dr_umask; /* dr_row.er_nlist of them */
};

/* How one of the library's families of tables is read. */
struct family {
	const char *f_prefix; /* of its PMUs' names, "": of any other */
	enum event_kind f_kind;
	/* The nth row of the table, false: it counts nothing. */
	bool (*f_read)(const struct table *t, unsigned n, struct draft *d);
	/* Add to the PMU what this family alone has. */
	void (*f_pmu)(const pfmlib_pmu_t *p, struct event_pmu *ep);
};
extern const struct family intel_family, netburst_family, amd_family,
    arm_family;

/* pool.c: the arrays, as they grow. */
struct pool {
	const char *p_name;
	const char *p_type;
	size_t p_size; /* of one */
	unsigned p_n;
	unsigned p_max;
	void *p_at;
};
extern struct pool pool[SECTION_FACTS];
/* Append n elements; the number of the first. */
unsigned pool_add(enum event_section s, const void *what, unsigned n);
/* The number of n elements like these in a row, appended if there are none. */
unsigned pool_find(enum event_section s, const void *what, unsigned n);
uint16_t name_add(const char *name);
const char *name_at(unsigned name);

/* bits.c: bits of one numbering to those of another. */
struct bit {
	unsigned b_theirs, b_ours;
};
unsigned translate(
    const struct bit *b, unsigned n, unsigned theirs, const char *what);
/* Which of the table's PMUs are of this model, or 0: of any. */
unsigned models_of(const struct table *t, unsigned model);

/* stand.c: what a name stands for, and what a group of unit masks is owed. */
uint16_t stands_of_umask(const struct draft *d, unsigned place);
uint16_t stands_of_row(
    const struct draft *all, unsigned n, const struct draft *d);
uint16_t fill_of(enum event_kind kind, const struct draft *d, unsigned model);

/* index.c: by which rows and unit masks are found. */
void index_add(const struct event_row *rows, unsigned n, struct event_pmu *ep);
void tags_add(void);

/* rows.c: the rows of a table; ep is told where they are. */
void rows_add(
    const struct family *f, const struct table *t, struct event_pmu *ep);

/* presets.c: PAPI's presets of each PMU there is, of its papi_events.csv. */
void presets_add(const char *papi_events);

/* papi.c: what PAPI has of a preset. */
struct papi_preset {
	unsigned pap_nevent; /* 0: nothing */
	char *pap_event[16]; /* by libpfm4's names */
};
/* By the numbers of their names, see events/preset.h. */
void papi_read(
    const char *papi_events, const char *pmu, struct papi_preset *presets);

/* left_out.c: why a preset is not the event that PAPI maps it to, or EXACT. */
enum preset_why left_out(
    const char *pmu, const char *preset, const char *event);

/* architected.c: the nth of those whose event the architecture gives. */
struct architected {
	const char *ar_preset; /* NULL: past the last */
	uint64_t ar_code;      /* event and unit mask */
};
struct architected architected_nth(const struct event_pmu *ep, unsigned n);

/* write.c */
void write_all(const char *vendor, const char *first_line);

#endif /* EVENTS_MKTABLES_TABLES_H */
