/*
 * The tables of event names as scripts/mkevents writes them: a few arrays a
 * vendor, whose rows refer to each other by number, so that they can be used
 * wherever they are copied to.  Included by events/ and by events/mktables/.
 */
#ifndef EVENTS_TABLE_H
#define EVENTS_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A modifier: `:u`, `:c=3`.  The order is that of canonical names. */
enum event_mod {
	MOD_K,      /* system level */
	MOD_U,      /* user level */
	MOD_E,      /* edge */
	MOD_I,      /* invert */
	MOD_C,      /* counter mask */
	MOD_T,      /* any thread */
	MOD_LDLAT,  /* load latency threshold, in cycles */
	MOD_INTX,   /* in transactions only */
	MOD_INTXCP, /* not in those that abort */
	MOD_FETHR,  /* front-end bubble threshold, in cycles */
	MOD_H,      /* AMD: host */
	MOD_G,      /* AMD: guest */
	MOD_HV,     /* Arm: EL2 */
	MOD_CMPL,   /* NetBurst: at most the threshold, not above it */
	MOD_THR,    /* NetBurst: threshold */
	MOD_N
};

/* Unit masks of one group combine, and each group wants one of its own. */
#define EVENT_MAXGROUP 8

/* um_flags */
enum {
	UM_ALONE = 1 << 0,       /* not with another of its group */
	UM_DEFAULT = 1 << 1,     /* taken where its group has none */
	UM_LAST_GROUP = 1 << 2,  /* no group behind its own */
	UM_FIRST_GROUP = 1 << 3, /* no group but the first and its own */
	UM_NEEDS = 1 << 4,       /* wants one of group um_group >> 4 */
	UM_OPTIONAL = 1 << 5,    /* its group may have none */
	UM_EVENT = 1 << 6,       /* its code holds the event's, too */
	UM_LDLAT = 1 << 7,       /* takes a load latency threshold */
	UM_FETHR = 1 << 8,       /* takes a front-end threshold */
};

/* A unit mask. */
struct event_umask {
	uint16_t um_name;
	uint16_t um_stands; /* what it stands for, 0: itself */
	uint16_t um_flags;
	uint16_t um_fixed; /* bit n: its code decides modifier n */
	uint16_t um_wants; /* bit n: modifier n must be there */
	uint32_t um_code;  /* bits 31:0 and */
	uint16_t um_high;  /* 47:32; the event's 8 bits are the lowest */
	uint8_t um_models; /* bit n: the table's nth PMU has it */
	uint8_t um_group;  /* 3:0: its own */
	uint16_t um_pics;  /* 0: the event's */
};

/* er_flags */
enum {
	ER_ONE_GROUP = 1 << 0, /* unit masks of one group only */
	ER_EXTRA = 1 << 1,     /* unit masks go to a second register */
	ER_FRONTEND = 1 << 2,  /* so too, with a threshold */
	ER_BARE = 1 << 3,      /* can be counted without a unit mask */
};

/* An event.  Rows of one table are sorted by name. */
struct event_row {
	uint16_t er_name;
	uint16_t er_stands; /* what it stands for, 0: itself */
	uint16_t er_mods;   /* bit n: takes modifier n */
	uint16_t er_wants;  /* bit n: modifier n must be there */
	uint16_t er_list;   /* of its unit masks, in the lists */
	uint32_t er_code; /* event, unit mask and modifiers it has by itself */
	uint8_t er_flags;
	uint8_t er_nlist;
	uint8_t er_ngroup;
	uint8_t er_models;
	uint16_t er_pics;
	uint16_t er_fill; /* what groups without a unit mask take */
};

/* In a list: the number of a unit mask, and whether it will do by itself. */
#define LIST_UMASK  0x7fff
#define LIST_ENOUGH 0x8000

/*
 * What a unit mask stands for: how many others and their places in the list,
 * how many modifiers and for each its number and value.  What an event stands
 * for: before these the number of another row of its table.
 */

/*
 * What is taken where a group has no unit mask, for each group in turn: a
 * byte of these, and the places of as many defaults.
 */
enum {
	FILL_COUNT = 0x3f,
	FILL_OPTIONAL = 0x40, /* it may be none */
	FILL_MAY_LACK = 0x80, /* where another mask bars the group, none */
};

/*
 * A name is found by the hash of its capitals, eight letters at a time, NULs
 * behind the last.  Its tag stands beside the entry of a list of unit masks,
 * so that eight are compared at once; a row's number, from 1, is in its
 * table's part of the index, at the hash or behind, with no 0 between.
 */
#define EVENT_WORD      8
#define EVENT_MAXNAME   64
#define EVENT_TAG(hash) ((uint8_t)((hash) >> 24))

/* The hash of what is before, and eight letters more. */
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
 * One of PAPI's presets on one PMU: the event that it is, or one of those
 * that PAPI makes it of; these are rows beside each other.  A PMU's are in the
 * order of event_preset_names[].
 */
struct event_preset {
	uint8_t pr_preset; /* its number there */
	uint8_t pr_why;    /* enum preset_why */
	uint16_t pr_event; /* in the stands, as what an event stands for */
};

/* Why a preset is not offered, see preset.c; which are, PAPI does not say. */
enum preset_why {
	PRESET_EXACT,   /* it is: it is that event */
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
	PRESET_BESIDE,
	PRESET_MERGED,
	PRESET_WHYS
};

enum event_kind {
	EVENT_INTEL,
	EVENT_AMD,
	EVENT_ARM,
	EVENT_NETBURST, /* among Intel's */
};

/* ep_flags */
enum {
	PMU_RAW_UMASK = 1 << 0,  /* `:0xff` */
	PMU_EDGE_CMASK = 1 << 1, /* an edge wants a counter mask */
	PMU_OFFCORE16 = 1 << 2,  /* the second register has 16 bits */
};

/* Which PICs count: bit n the nth general one, bit 32 + n the nth fixed one. */
typedef uint64_t event_pics_t;

/* A PMU: part of a table. */
struct event_pmu {
	char ep_name[24];
	char ep_desc[64];
	uint16_t ep_first, ep_nrow; /* its table */
	uint16_t ep_index;          /* where its table's part begins, */
	uint8_t ep_bits;            /* the logarithm of its length, */
	uint8_t ep_shift;           /* and where the hash has its bits */
	uint8_t ep_model;           /* its bit in er_models, um_models */
	uint8_t ep_kind;            /* enum event_kind */
	uint8_t ep_flags;
	uint16_t ep_preset;         /* the first of its presets, */
	uint8_t ep_npreset;         /* and how many rows they have */
	uint8_t ep_npic, ep_nfixed; /* at most */
	uint8_t ep_family;          /* Intel's of CPUID, */
	uint8_t ep_models[10];      /* and models, as many as are not 0 */
};

enum event_section {
	SECTION_PMUS,    /* struct event_pmu */
	SECTION_ROWS,    /* struct event_row */
	SECTION_UMASKS,  /* struct event_umask */
	SECTION_PICS,    /* event_pics_t; number 0 is 0 */
	SECTION_NAMES,   /* text, each ends in NUL; offset 0 is empty */
	SECTION_LISTS,   /* uint16_t */
	SECTION_TAGS,    /* uint8_t, one for each of the lists' */
	SECTION_INDEX,   /* uint8_t */
	SECTION_PRESETS, /* struct event_preset */
	SECTION_STANDS,  /* uint8_t; offset 0: nothing else */
	SECTION_FILLS,   /* uint8_t */
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
	SECTION_DESCS, /* numbers of words, see events/name.c; offset 0: none */
	SECTION_WORDS, /* text, each ends in NUL */
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
 * A vendor's arrays as a file, `events/intel` of an archive, which programs
 * map: this header, then the sections, each aligned to 8 bytes.  The file is
 * whole pages.  Numbers are little-endian.
 */
#define EVENT_FILE_MAGIC   0x73746e6576654342ULL /* "BCevents" */
#define EVENT_FILE_VERSION 2
#define EVENT_FILE_ALIGN   4096

struct event_file {
	uint64_t evf_magic;
	uint32_t evf_version;
	uint32_t evf_bytes; /* of the file */
	uint64_t evf_sum;   /* event_file_sum() of what comes after it */
	struct {
		uint32_t evf_at, evf_section_bytes;
	} evf_section[SECTION_N];
};

/* Of whole words. */
static inline uint64_t
event_file_sum(const void *words, size_t bytes)
{
	const uint64_t *w = words;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes / sizeof *w; i++)
		sum = (sum ^ w[i]) * 0x9e3779b97f4a7c15;
	return sum;
}

#endif /* EVENTS_TABLE_H */
