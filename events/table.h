/*
 * The tables of event names: a few arrays for each vendor.  Their rows refer
 * to each other by number, so that a table works at any address.  Included by
 * events/ and events/mktables/; scripts/mkevents writes events/generated/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A modifier: `:u`, `:c=3`.  Canonical names list them in this order. */
enum event_mod {
	MOD_K,      /* system level */
	MOD_U,      /* user level */
	MOD_E,      /* edge */
	MOD_I,      /* invert */
	MOD_C,      /* counter mask */
	MOD_T,      /* any thread */
	MOD_LDLAT,  /* load latency threshold, in cycles */
	MOD_INTX,   /* in transactions only */
	MOD_INTXCP, /* not in transactions that abort */
	MOD_H,      /* AMD: host */
	MOD_G,      /* AMD: guest */
	MOD_HV,     /* Arm: EL2 */
	MOD_CMPL,   /* NetBurst: at most the threshold, not above it */
	MOD_THR,    /* NetBurst: threshold */
	MOD_N
};

/* Unit masks of one group combine.  A name needs a unit mask of each group. */
#define EVENT_MAXGROUP 8

/* um_flags */
#define UM_EXTRA_SHIFT 10
enum {
	UM_ALONE = 1 << 0,    /* forbids another of its group */
	UM_DEFAULT = 1 << 1,  /* used if the name has none of its group */
	UM_OPTIONAL = 1 << 5, /* a name may have none of its group */
	UM_EVENT = 1 << 6,    /* its code replaces the event's, too */
	UM_LDLAT = 1 << 7,    /* takes a load latency threshold */
	UM_EXTRA = 7 << UM_EXTRA_SHIFT, /* enum event_extra: see um_extra */
};

/* Names begin at multiples of this, so that 16 bits hold the number. */
#define EVENT_NAME_ALIGN 4

/* A unit mask. */
struct event_umask {
	uint16_t um_name;  /* place in SECTION_NAMES, / EVENT_NAME_ALIGN */
	uint16_t um_alias; /* place in SECTION_ALIASES; 0: no alias */
	uint16_t um_flags;
	uint16_t um_fixed;  /* bit n: its code sets modifier n */
	uint16_t um_group;  /* its group */
	uint32_t um_code;   /* bits 31:0 and */
	uint16_t um_high;   /* 47:32; the event's 8 bits are the lowest */
	uint16_t um_models; /* bit n: the nth PMU of the table has it */
	uint16_t um_pics;   /* place in SECTION_PICS; 0: the event's */
	uint16_t um_extra;  /* place in SECTION_PICS: value of an extra MSR */
};

/* er_flags */
enum {
	ER_BARE = 1 << 0,   /* counts without a unit mask in the name */
	ER_DOTTED = 1 << 1, /* names of unit masks may have dots for `_` */
	ER_EVENTS = 1 << 2, /* one of its unit masks has UM_EVENT */
};

/* An event.  Rows of one table are sorted by name. */
struct event_row {
	uint16_t er_name;  /* place in SECTION_NAMES, / EVENT_NAME_ALIGN */
	uint16_t er_alias; /* place in SECTION_ALIASES; 0: no alias */
	uint16_t er_mods;  /* bit n: takes modifier n */
	uint16_t er_list;  /* place of its unit masks in SECTION_LISTS */
	uint32_t er_code;  /* with the unit mask and modifiers it implies; */
			   /* AMD: 12 bits, and the unit mask from bit 16 */
	uint16_t er_nlist, er_pics;
	uint16_t er_defaults; /* place in SECTION_DEFAULTS */
	uint16_t er_index;    /* of a long list: place in SECTION_INDEX */
	uint8_t er_flags, er_ngroup, er_models;
};

/* An entry of a list: a unit mask, and whether the event needs no other. */
#define LIST_UMASK  0x7fff
#define LIST_ENOUGH 0x8000

/*
 * SECTION_ALIASES.  A unit mask's alias has these bytes: the number of masks
 * and their places in the list, then the number of modifiers.  Each modifier
 * is its number and its value.  An event's alias has the number of another row
 * before these, in two bytes.
 */

/*
 * SECTION_DEFAULTS.  For each group of an event: a byte of these bits, then
 * the places of its default unit masks, DEFAULTS_COUNT of them.
 */
enum {
	DEFAULTS_COUNT = 0x3f,
	DEFAULTS_OPTIONAL = 0x40, /* the group may be without a unit mask */
};

/*
 * A name is found by the hash of its capitals.  The hash takes eight letters
 * at a time, with NULs after the last.  A unit mask is found by its tag, a
 * byte of the hash: eight tags of a list are compared at once.  An event is
 * found in its table's part of the index, which holds row numbers from 1, and
 * four bits of each hash above them.  The search begins at the hash's place and
 * ends at the first 0.  A long list of unit masks has such an index, too, of
 * places in the list from 1.
 */
#define EVENT_LONG_LIST     128
#define EVENT_SAME_PICS     40 /* in a longer list all have the same PICs */
#define EVENT_ROW_BITS      12
#define EVENT_ROW_TAG(hash) ((hash) >> 28)
#define EVENT_WORD          8
#define EVENT_MAXNAME       64
#define EVENT_TAG(hash)     ((uint8_t)((hash) >> 24))

/* The length of the index of a long list. */
static inline uint32_t
event_index_length(uint32_t n)
{
	return 1U << (32 - __builtin_clz(n + n / 2));
}

/* Add eight letters to a hash. */
static inline uint64_t
event_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static inline uint32_t
event_hash(const char *capitals, size_t len)
{
	uint64_t hash = 0, word;

	for (size_t i = 0; i < len; i += EVENT_WORD) {
		__builtin_memcpy(&word, capitals + i, sizeof word);
		hash = event_hash_word(hash, word);
	}
	return (uint32_t)hash;
}

/*
 * One of PAPI's presets on one PMU: an event that PAPI maps it to.  A preset
 * of several events has as many rows, next to each other.  The rows of a PMU
 * are in the order of event_preset_names[].
 */
struct event_preset {
	uint8_t pr_preset; /* place in event_preset_names[] */
	uint8_t pr_why;    /* enum preset_why */
	uint16_t pr_event; /* place in SECTION_ALIASES, as of an event */
};

/* Why a preset is not offered; preset.c has the messages. */
enum preset_why {
	PRESET_EXACT,   /* it is offered: it is that event */
	PRESET_DERIVED, /* more than one event */
	PRESET_EXECUTED,
	PRESET_UOPS,
	PRESET_OPERATIONS,
	PRESET_ACCESSES,
	PRESET_LEVEL,
	PRESET_MORE,
	PRESET_LESS,
	PRESET_OTHER,
	PRESET_TWICE,
	PRESET_REGISTERS,
	PRESET_MERGED,
	PRESET_WHYS
};

enum event_kind {
	EVENT_INTEL,
	EVENT_AMD,
	EVENT_ARM,
	EVENT_NETBURST, /* in the table of Intel */
};

/* ep_flags */
enum {
	PMU_RAW_UMASK = 1 << 0,  /* `:0xff` */
	PMU_EDGE_CMASK = 1 << 1, /* `e` needs a counter mask */
};

/* PICs: bit n is general PIC n, bit 32 + n is fixed PIC n. */
typedef uint64_t event_pics_t;

/* A PMU, and its part of each array. */
struct event_pmu {
	char ep_name[24], ep_desc[64];
	char ep_source[96];         /* the files and their revisions */
	uint16_t ep_first, ep_nrow; /* its rows */
	uint16_t ep_index;          /* first entry of its index */
	uint8_t ep_bits;            /* base 2 logarithm of the index's length */
	uint8_t ep_shift;           /* lowest bit of the hash that it uses */
	uint8_t ep_model;           /* its bit in er_models and um_models */
	uint8_t ep_kind;            /* enum event_kind */
	uint8_t ep_flags;
	uint16_t ep_preset;         /* first row of its presets */
	uint8_t ep_npreset;         /* rows of presets */
	uint8_t ep_npic, ep_nfixed; /* general and fixed PICs, at most */
	uint8_t ep_family;          /* Intel: CPUID's family */
	uint8_t ep_models[10];      /* and its models; unused: 0 */
};

enum event_section {
	SECTION_PMUS,     /* struct event_pmu */
	SECTION_ROWS,     /* struct event_row */
	SECTION_UMASKS,   /* struct event_umask */
	SECTION_PICS,     /* event_pics_t; number 0 is 0 */
	SECTION_NAMES,    /* text, each ends in NULs; number 0 is empty */
	SECTION_LISTS,    /* uint16_t */
	SECTION_TAGS,     /* uint8_t, one for each entry of the lists */
	SECTION_INDEX,    /* uint16_t */
	SECTION_PRESETS,  /* struct event_preset */
	SECTION_ALIASES,  /* uint8_t; offset 0 is unused */
	SECTION_DEFAULTS, /* uint8_t */
	/*
	 * The sections up to here are committed.  The rest hold descriptions:
	 * only files have them, and only if libpfm4 was there at build time.
	 */
	SECTION_FACTS,
	/* uint16_t for each row: its first element of the next section */
	SECTION_DESCFIRST = SECTION_FACTS,
	/* uint16_t for the event, then each of its unit masks: an offset in
	   SECTION_DESCS */
	SECTION_DESCAT,
	SECTION_DESCS,  /* numbers of words (names/name.c); offset 0: none */
	SECTION_WORDS,  /* text, each ends in NUL */
	SECTION_WORDAT, /* uint16_t: where each begins */
	SECTION_N
};

/* A section that is absent has no bytes. */
struct event_db {
	const void *ed_at[SECTION_N];
	uint32_t ed_bytes[SECTION_N];
};

/* Vendors, by enum event_kind. */
#define EVENT_VENDORS 3

/*
 * A vendor's arrays as a file that programs map, `events/intel` of an archive.
 * This header comes first, then the sections, each aligned to 8 bytes.  The
 * file is a whole number of pages.  Numbers are little-endian.
 */
#define EVENT_FILE_MAGIC   0x73746e6576654342ULL /* "BCevents" */
#define EVENT_FILE_VERSION 5
#define EVENT_FILE_ALIGN   4096

struct event_file {
	uint64_t evf_magic;
	uint32_t evf_version;
	uint32_t evf_bytes; /* of the file */
	uint64_t evf_sum;   /* event_file_sum() of the rest of the file */
	struct {
		uint32_t evf_at, evf_section_bytes;
	} evf_section[SECTION_N];
};

/* The sum of a file's bytes, which are whole words. */
static inline uint64_t
event_file_sum(const void *words, size_t bytes)
{
	const uint64_t *w = words;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes / sizeof *w; i++)
		sum = (sum ^ w[i]) * 0x9e3779b97f4a7c15;
	return sum;
}
