/*
 * Event names to register values, for any CPU that libpfm4 knows.  Included by
 * payloads/ and by programs of the build machine; events/machine.h serves cpc/.
 *
 * A name is [PMU::]EVENT[:UMASK]...[:MODIFIER[=VALUE]]..., as in libpfm4.  A
 * dot is the same as a colon.  A name may also be PAPI_PRESET, if the preset
 * is one event of that CPU.  docs/events.md says more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/nearer.h"
#include "events/pmu.h"
#include "events/table.h"

/* A PMU, and the arrays of its vendor. */
struct events {
	const struct event_db *es_db;
	const struct event_pmu *es_pmu; /* NULL: no table for the CPU */
};

/* Why a name is refused. */
enum event_error {
	EVENT_OK,
	EVENT_UNKNOWN,     /* no such event */
	EVENT_BAD_PART,    /* no such unit mask or modifier of this event */
	EVENT_BAD_VALUE,   /* a modifier does not take this value */
	EVENT_TWO_VALUES,  /* a modifier has two, or not the mask's own */
	EVENT_BAD_MIX,     /* these unit masks exclude each other */
	EVENT_NEEDS_UMASK, /* no unit mask is the default */
	EVENT_NO_PRESET,   /* no preset that is one event here */
};
const char *event_strerror(enum event_error err);

/* How a name may be spelled. */
enum event_case {
	/* capitals, small letters, or as listed; modifiers in small letters */
	EVENT_EITHER_CASE,
	EVENT_ANY_CASE, /* as in libpfm4 */
};

/*
 * vendors.c: the tables linked into the tools that make and test them.  An
 * entry is NULL if that vendor's is not linked.
 */
extern const struct event_db *const event_dbs[EVENT_VENDORS];

/*
 * file.c: the tables in the files `intel`, `amd` and `arm` of a folder.  The
 * first call maps them for the process.  An entry is NULL if the file is
 * absent or invalid.
 */
const struct event_db *const *events_files(const char *folder);
/*
 * Has the file all that the table of this PMU refers to?  Ask before its rows
 * are used.  Returns NULL, or what is wrong with the file: part of a line.
 */
const char *events_file_lacks(const struct events *es);
/* Why a vendor's entry is NULL, or the last table lacks a part: the same. */
const char *events_file_why(enum event_kind vendor);

#define EVENT_MAXUMASK 32
#define EVENT_MAXPIC   32 /* of one PMU */

/* The parts of a name. */
struct event_spec {
	const struct event_row *spc_row;
	uint16_t spc_umask[EVENT_MAXUMASK]; /* places in the list, ascending */
	uint8_t spc_numask;
	bool spc_preset;      /* the name is a preset's */
	bool spc_raw;         /* the unit mask is a number, */
	uint64_t spc_rawmask; /* this one */
	uint32_t spc_given;   /* bit n: modifier n was given */
	uint32_t spc_value[MOD_N];
};

struct event_code {
	/*
	 * x86: the event select, with EN and INT; NetBurst: the ESCR; Arm:
	 * PMEVTYPER<n>_EL0 with NSH.  A name without a privilege has both,
	 * user and system level.
	 */
	uint64_t ec_select;
	enum event_extra ec_extra;
	uint64_t ec_extra_value;
	event_pics_t ec_pics;
	uint32_t ec_given; /* bit n: modifier n was given */
};

/* find.c: a PMU by libpfm4's name or by its usual one, as neoverse_n1. */
struct events events_find(const struct event_db *const *dbs, const char *name);
/* The nth PMU of the tables; es_pmu is NULL past the last. */
struct events events_nth(const struct event_db *const *dbs, unsigned n);
/* An event of the PMU by name, in any case, or NULL. */
const struct event_row *events_row(const struct events *es, const char *name);
/* The nth row of the table, or NULL if the PMU does not have it. */
const struct event_row *events_nth_row(const struct events *es, unsigned n);
/* The nth unit mask of a row, or NULL if the PMU does not have it. */
const struct event_umask *events_umask(
    const struct events *es, const struct event_row *row, unsigned n);
/* Does the event count with its nth unit mask and no other? */
bool events_umask_alone(
    const struct events *es, const struct event_row *row, unsigned n);
/* The place of a unit mask by name, in any case, or -1. */
int events_umask_find(
    const struct events *es, const struct event_row *row, const char *name);

static inline const char *
events_text(const struct events *es, unsigned name)
{
	return (const char *)es->es_db->ed_at[SECTION_NAMES] +
	       EVENT_NAME_ALIGN * name;
}

static inline event_pics_t
events_pics(const struct events *es, unsigned set)
{
	return ((const event_pics_t *)es->es_db->ed_at[SECTION_PICS])[set];
}

/*
 * cpu.c: the table of a CPU; es_pmu is NULL if it has none.  Intel and AMD: by
 * CPUID's family, model and stepping.  Arm: family is MIDR_EL1's Implementer,
 * model its PartNum.
 */
struct events events_cpu(const struct event_db *const *dbs,
    enum event_kind vendor, unsigned family, unsigned model, unsigned stepping);
/*
 * The table of one core type of a hybrid Intel part.  core is
 * CPUID.1AH:EAX[31:24], 0x20 or 0x40.
 */
struct events events_core(const struct event_db *const *dbs, unsigned family,
    unsigned model, unsigned core);

/* The longest name that events_parse() accepts. */
#define EVENT_MAXTEXT 511

/* parse.c */
enum event_error events_parse(const struct events *es, const char *name,
    enum event_case fold, struct event_spec *sp);
/* The same, if EVENT_WORD bytes after the name may be read. */
enum event_error events_parse_padded(const struct events *es, const char *name,
    enum event_case fold, struct event_spec *sp);
/* mod.c */
extern const char *const event_mod_names[MOD_N];

/* encode.c: register values; adds default unit masks to the spec. */
enum event_error events_encode(
    const struct events *es, struct event_spec *sp, struct event_code *ec);

/*
 * perf.c: a raw event in perf's form, `r1a8` or `cpu/event=0xa8,umask=1/`.  It
 * may end with `:u` or `:k`.  Returns false if this kind of PMU has no such
 * event.  The select has the bits of the name and no others.
 */
bool events_perf(enum event_kind kind, const char *name, struct event_code *ec);

/* The same, or a number; the select is as events_encode() makes it. */
bool events_raw(enum event_kind kind, const char *name, struct event_code *ec);

/*
 * encode.c: on Intel, set the PICs of a raw event to those of its code's names.
 * If none has the code, those of its event and unit mask count.
 */
void events_raw_pics(const struct events *es, struct event_code *ec);

/*
 * Cut off the first name of a list with commas, as strsep(3).  Commas between
 * slashes belong to a raw event's name.
 */
char *events_cut(char **list);

/*
 * preset.c: a preset of PAPI is `PAPI_` and small letters.  Does a name begin
 * so, in any case?
 */
bool events_is_preset(const char *name);
/* Is it the name of a preset, even if no CPU has an event for it? */
bool events_preset_exists(const char *name);
/* The next preset that the PMU has, from *n on; false past the last. */
bool events_next_preset(
    const struct events *es, unsigned *n, char *buf, size_t size);
/*
 * Why a preset's name was refused with EVENT_NO_PRESET, and what to do.  The
 * text goes to buf, as in name.c.  It is empty if the CPU has no table and
 * PAPI no such preset.
 */
size_t events_preset_why(
    const struct events *es, const char *name, char *buf, size_t size);

/*
 * name.c: text goes to buf, cut to size bytes with its NUL.  Like strlcpy(),
 * these return the length of the whole text.
 *
 * The name in full, as libpfm4 writes it, after events_encode():
 * `skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0`.
 */
size_t events_canonical(const struct events *es, const struct event_spec *sp,
    const struct event_code *ec, char *buf, size_t size);
/* The name with the given modifiers only: `UOPS_RETIRED:ALL:c=4`. */
size_t events_short(const struct events *es, const struct event_spec *sp,
    char *buf, size_t size);
/* The next name that counts without more parts; false past the last. */
struct event_walk {
	unsigned ew_row, ew_umask;
};
bool events_next(const struct events *es, struct event_walk *ew,
    event_pics_t pics, char *buf, size_t size);
/*
 * The description of the nth unit mask of a row, or of the event if n is -1.
 * It is empty if the tables have none.
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
