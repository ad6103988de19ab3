/*
 * Names of events: from what a user types to what a PMU's registers take, for
 * any CPU that libpfm4 knows.  Included by cpc/, by payloads/ and by programs
 * of the build machine.
 *
 * A name is [PMU::]EVENT[:UMASK]...[:MODIFIER[=VALUE]]..., as libpfm4 has it; a
 * dot is as good as a colon.  Or it is PAPI_PRESET, one of PAPI's that is one
 * event of that CPU.
 */
#ifndef EVENTS_EVENTS_H
#define EVENTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/nearer.h"
#include "events/pmu.h"
#include "events/table.h"

/* A PMU, with the arrays its table is in. */
struct events {
	const struct event_db *es_db;
	const struct event_pmu *es_pmu; /* NULL: of no CPU known here */
};

/* What is wrong with a name. */
enum event_error {
	EVENT_OK,
	EVENT_UNKNOWN,     /* no such event */
	EVENT_BAD_PART,    /* no such unit mask or modifier of this event */
	EVENT_BAD_VALUE,   /* of a modifier */
	EVENT_TWO_VALUES,  /* of one modifier, or not the mask's own */
	EVENT_BAD_MIX,     /* unit masks that do not go together */
	EVENT_NEEDS_UMASK, /* and none is the default */
	EVENT_NO_PRESET,   /* of PAPI's that is one event here */
};
const char *event_strerror(enum event_error err);

/* Which letters a name may be in. */
enum event_case {
	EVENT_EITHER_CASE, /* all upper or all lower, or as listed; modifiers
	                      in lower */
	EVENT_ANY_CASE,    /* as libpfm4 */
};

/*
 * vendors.c: the tables linked into the tools that make and test them; NULL:
 * left out.
 */
extern const struct event_db *const event_dbs[EVENT_VENDORS];

/*
 * file.c: the same of the files `intel`, `amd` and `arm` of a folder, mapped
 * once for the process.  An entry is NULL where there is no such file, or it
 * is no table.
 */
const struct event_db *const *events_files(const char *folder);
/* Then that says why, of one of them: part of a line. */
const char *events_file_why(enum event_kind vendor);

#define EVENT_MAXUMASK 32

/* A name, taken apart. */
struct event_spec {
	const struct event_row *spc_row;
	uint8_t spc_umask[EVENT_MAXUMASK]; /* places in its list, ascending */
	uint8_t spc_numask;
	bool spc_preset; /* the name is PAPI's */
	bool spc_raw;    /* the unit mask is a number: */
	uint64_t spc_rawmask;
	uint32_t spc_given; /* bit n: modifier n was given */
	uint32_t spc_value[MOD_N];
};

struct event_code {
	/*
	 * x86: the event select, with EN and INT; NetBurst: the ESCR; Arm:
	 * PMEVTYPER<n>_EL0 with NSH.  Where the name says no privilege: user
	 * and system level.
	 */
	uint64_t ec_select;
	enum event_extra ec_extra;
	uint64_t ec_extra_value;
	event_pics_t ec_pics;
	uint32_t ec_given; /* bit n: modifier n was given */
};

/* find.c: by libpfm4's name of it or by what it is called: neoverse_n1. */
struct events events_find(const struct event_db *const *dbs, const char *name);
/* The nth PMU of the linked tables; es_pmu is NULL past the last. */
struct events events_nth(const struct event_db *const *dbs, unsigned n);
/* An event of the PMU by its name in any case, or NULL. */
const struct event_row *events_row(const struct events *es, const char *name);
/* The nth row of the PMU's table, or NULL where the PMU does not have it. */
const struct event_row *events_nth_row(const struct events *es, unsigned n);
/* The nth unit mask of a row, or NULL where the PMU does not have it. */
const struct event_umask *events_umask(
    const struct events *es, const struct event_row *row, unsigned n);
/* Will the event do with its nth unit mask alone? */
bool events_umask_alone(
    const struct events *es, const struct event_row *row, unsigned n);
/* The place of a unit mask by its name in any case, or -1. */
int events_umask_find(
    const struct events *es, const struct event_row *row, const char *name);

static inline const char *
events_text(const struct events *es, unsigned name)
{
	return (const char *)es->es_db->ed_at[SECTION_NAMES] + name;
}

static inline event_pics_t
events_pics(const struct events *es, unsigned set)
{
	return ((const event_pics_t *)es->es_db->ed_at[SECTION_PICS])[set];
}

/*
 * cpu.c: the table of a CPU, es_pmu NULL where there is none.  Intel and AMD:
 * by CPUID's family, model and stepping; Arm: by MIDR_EL1's Implementer and
 * PartNum.
 */
struct events events_cpu(const struct event_db *const *dbs,
    enum event_kind vendor, unsigned family, unsigned model, unsigned stepping);

/* Letters of the longest name that is looked up. */
#define EVENT_MAXTEXT 511

/* parse.c */
enum event_error events_parse(const struct events *es, const char *name,
    enum event_case fold, struct event_spec *sp);
/* The same where EVENT_WORD bytes behind the name may be read. */
enum event_error events_parse_padded(const struct events *es, const char *name,
    enum event_case fold, struct event_spec *sp);
/* mod.c */
extern const char *const event_mod_names[MOD_N];

/* encode.c: completes the spec's unit masks with defaults. */
enum event_error events_encode(
    const struct events *es, struct event_spec *sp, struct event_code *ec);

/*
 * perf.c: a raw event as perf writes it, `r1a8` or `cpu/event=0xa8,umask=1/`,
 * with `:u` or `:k` behind; false where it is none of that kind of PMU.  The
 * select holds nothing but what it says.
 */
bool events_perf(enum event_kind kind, const char *name, struct event_code *ec);

/* So too, and numbers, the select as events_encode() makes it. */
bool events_raw(enum event_kind kind, const char *name, struct event_code *ec);

/*
 * preset.c: PAPI's presets are in small letters behind `PAPI_`.  Is it meant
 * for the name of one, whatever its case?
 */
bool events_is_preset(const char *name);
/* Is it one, whether or not any CPU has an event for it? */
bool events_preset_exists(const char *name);
/* The nth that is an event of the PMU: false past the end; *n goes on. */
bool events_next_preset(
    const struct events *es, unsigned *n, char *buf, size_t size);
/*
 * Why a preset's name was refused with EVENT_NO_PRESET, and what to do: text
 * into buf as by name.c; of length 0 where there is no table, nor such a name.
 */
size_t events_preset_why(
    const struct events *es, const char *name, char *buf, size_t size);

/*
 * name.c: text into buf, cut to size bytes with NUL, as strlcpy() would: the
 * length it wants is returned.
 *
 * What events_encode() made of a name, in full, as libpfm4 has it:
 * `skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0`.
 */
size_t events_canonical(const struct events *es, const struct event_spec *sp,
    const struct event_code *ec, char *buf, size_t size);
/* The event with what a name gave of it alone: `UOPS_RETIRED:ALL:c=4`. */
size_t events_short(const struct events *es, const struct event_spec *sp,
    char *buf, size_t size);
/* The nth name that can be counted as it stands: false past the end. */
struct event_walk {
	unsigned ew_row, ew_umask;
};
bool events_next(const struct events *es, struct event_walk *ew,
    event_pics_t pics, char *buf, size_t size);
/*
 * What an event counts, or its nth unit mask; n is -1 for the event itself.
 * Of length 0 if the tables have no description of it.
 */
size_t events_describe(const struct events *es, const struct event_row *row,
    int n, char *buf, size_t size);
/* Does the PMU's table have descriptions?  Only the linked ones never do. */
static inline bool
events_described(const struct events *es)
{
	return es->es_db->ed_bytes[SECTION_DESCS] > 0;
}

/* suggest.c: the name nearest to one that is unknown; false if none is near. */
bool events_suggest(
    const struct events *es, const char *name, char *buf, size_t size);

#endif /* EVENTS_EVENTS_H */
