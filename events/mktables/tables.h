/*
 * The generator of the tables of event names (events/table.h).  Included
 * within events/mktables/, which scripts/mkevents compiles with libpfm4's
 * source.
 *
 * A vendor's file reads libpfm4's rows into drafts.  rows.c turns them into
 * rows that refer to each other by number.  write.c prints the arrays.
 */
#ifndef EVENTS_MKTABLES_TABLES_H
#define EVENTS_MKTABLES_TABLES_H

#include <stdbool.h>

#include <pfmlib_priv.h>

#include "events/table.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* An event of Linux's perf JSON, as perf_json.py prints it. */
struct json_event {
	const char *js_event, *js_umask; /* unit mask: "" or with dots */
	uint64_t js_select;              /* the bits of the name */
	unsigned js_extra;               /* enum event_extra */
	uint64_t js_value;               /* of the extra MSR */
	uint64_t js_pics;                /* 0: every PIC */
	char js_decision;                /* if libpfm4 differs: see json.c */
};

/* A PMU of the JSON. */
struct json_pmu {
	const char *jp_name, *jp_base; /* libpfm4's PMU of the same table */
	const char *jp_desc;
	int jp_npic, jp_nfixed; /* 0: libpfm4's are right */
	int jp_listed;          /* the general PICs that the JSON knows */
	int jp_family;
	unsigned jp_sources; /* PMU_JSON, PMU_NEWER */
	int jp_models[16];   /* the first 0 is the end */
	struct json_event *jp_event;
	unsigned jp_n;
};

/* The PMUs that share a table of libpfm4's; bit n of models is the nth. */
#define MAX_TABLE 8
struct table {
	const pfmlib_pmu_t *t_pmu[MAX_TABLE];
	const char *t_query[MAX_TABLE]; /* libpfm4's name of it, or NULL */
	const struct json_pmu *t_json[MAX_TABLE]; /* or NULL */
	unsigned t_npmu;
};

/* A unit mask as libpfm4 has it: names and aliases are still text. */
struct draft_umask {
	struct event_umask du_umask;
	const char *du_name, *du_equiv;
	uint64_t du_pics;  /* 0: those of the event */
	uint64_t du_extra; /* value of the extra MSR, if UM_EXTRA has one */
	bool du_json;      /* the JSON's code */
};
#define MAX_DRAFT_UMASKS 2048

/* An event as libpfm4 has it. */
struct draft {
	struct event_row dr_row;
	const char *dr_name, *dr_equiv;
	uint64_t dr_pics;
	struct draft_umask *dr_umask; /* dr_row.er_nlist of them */
	bool dr_json;                 /* the JSON's code */
	bool dr_optional; /* it counts without the JSON's unit masks, too */
};

/* How to read one of libpfm4's families of tables. */
struct family {
	const char *f_prefix; /* of its PMUs' names; "": any other */
	enum event_kind f_kind;
	/* Read the nth row of the table; false if it counts nothing. */
	bool (*f_read)(const struct table *t, unsigned n, struct draft *d);
	unsigned f_mods; /* modifiers of the JSON's events */
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

/* json.c: Linux's perf JSON. */
void json_read(const char *lines, const char *report);
extern struct json_pmu json_pmu[64];
extern unsigned json_npmu;
/* Add the JSON's events to the drafts of a table; returns how many there are.
 */
unsigned json_merge(const struct family *f, const struct table *t,
    struct draft *all, unsigned n);

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

/* rows.c: add the rows of a table, and set the fields of ep about them. */
void rows_add(
    const struct family *f, const struct table *t, struct event_pmu *ep);

/* presets.c: add the presets of each PMU, from PAPI's papi_events.csv. */
void presets_add(const char *papi_events);

/* papi.c: the events that PAPI maps a preset to. */
struct papi_preset {
	unsigned pap_nevent; /* 0: none */
	char *pap_event[16]; /* libpfm4's names */
};
/* Read the presets of a PMU, in the order of event_preset_names[]. */
void papi_read(
    const char *papi_events, const char *pmu, struct papi_preset *presets);

/* preset_denylist.c: why a preset is not PAPI's event, or PRESET_EXACT. */
enum preset_why preset_denied(
    const char *pmu, const char *preset, const char *event);

/* architected.c: the nth preset whose event the architecture defines. */
struct architected {
	const char *ar_preset; /* NULL: past the last */
	uint64_t ar_code;      /* event and unit mask */
};
struct architected architected_nth(const struct event_pmu *ep, unsigned n);

/* write.c: print all arrays. */
void write_all(const char *vendor, const char *first_line);

#endif /* EVENTS_MKTABLES_TABLES_H */
