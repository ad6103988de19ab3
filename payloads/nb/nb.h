/*
 * nb: counts the events of a few instructions, which are copied into generated
 * code between two reads of the counters.  Included by the files of nb.
 */
#pragma once

#include <libcpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "payloads/common/report.h"

/* Machine code that the user gave. */
enum nb_part { NB_CODE, NB_INIT, NB_LATE_INIT, NB_ONE_TIME_INIT, NB_PARTS };
struct nb_code {
	uint8_t *nbc_bytes;
	size_t nbc_n;
};

enum nb_aggregate { NB_AVG, NB_MEDIAN, NB_MIN, NB_MAX };

/* The command line. */
struct nb_options {
	struct options nbo_common; /* for the records */
	const char *nbo_name;
	const char *nbo_config, *nbo_msr_config; /* files, or NULL */
	struct nb_code nbo_code[NB_PARTS];
	uint64_t nbo_unroll, nbo_loops, nbo_initial_warm_ups, nbo_offset;
	uint64_t nbo_divisor;      /* instructions in each copy to divide by */
	struct nb_code nbo_linked; /* functions that the code calls */
	uint64_t nbo_linked_at;    /* their address */
	enum nb_aggregate nbo_aggregate;
	int nbo_cpu; /* -1: any */
	bool nbo_fixed, nbo_range, nbo_basic, nbo_no_mem, nbo_no_normalization,
	    nbo_remove_empty, nbo_drain, nbo_verbose, nbo_end_to_end, nbo_csv,
	    nbo_cycles;
	unsigned nbo_flags; /* CPC_COUNT_*: privileges that are counted */
};

/* config.c: the events */
#define NB_ATTRS 8
/* A model-specific register of x86, and its value. */
struct nb_msr {
	uint32_t nbm_register;
	uint64_t nbm_value;
};
struct nb_event {
	const char *nbe_name;  /* as the results show it */
	const char *nbe_event; /* as libcpc knows it; NULL: nbe_msr[0] counts */
	unsigned nbe_flags;    /* CPC_COUNT_* */
	bool nbe_alone;        /* no other event in the same pass */
	unsigned nbe_nattrs;
	cpc_attr_t nbe_attrs[NB_ATTRS];
	unsigned nbe_nmsrs; /* those after the first are written before */
	struct nb_msr nbe_msr[NB_ATTRS];
};

/*
 * Read the events of the files -config and -msr_config, and those of
 * -fixed_counters.  A line that is wrong ends the program.  Returns their
 * number.
 */
size_t nb_events(const struct nb_options *o, cpc_t *cpc, struct nb_event **to);

/* generate.c, ARCH/emit.c and ARCH/enter.S: the code */
#define NB_READS 16 /* counters that one pass reads */

/*
 * The generated code's own memory.  The code reaches it while each register
 * may belong to the user.
 */
struct nb_frame {
	uint64_t nbf_saved[3]; /* registers that a read of the counters uses */
	uint64_t nbf_begin[NB_READS], nbf_end[NB_READS];
};

/* A function of generated code: the copies, and the counters that it reads. */
struct nb_shape {
	uint64_t nbs_copies;
	unsigned nbs_nreads;
	uint32_t nbs_read[NB_READS]; /* ri_index of each counter */
	bool nbs_rdmsr;              /* they are registers that RDMSR reads */
};

/* Code as it grows. */
struct nb_buffer {
	struct nb_frame *nbb_frame;
	uint8_t *nbb_start, *nbb_at, *nbb_end;
	uint8_t *nbb_part[NB_PARTS]; /* where each part is; NULL: nowhere */
};
void nb_emit(struct nb_buffer *b, const void *bytes, size_t n);

/* The most counters that one pass can read in this mode. */
unsigned nb_max_reads(bool no_mem);
/* The most bytes that a function needs in addition to the user's code. */
#define NB_SURROUNDINGS 65536

/* Pointers to the middle of the five areas of memory that the code may use. */
#define NB_AREAS      5
#define NB_AREA_BYTES ((size_t)1 << 20)
struct nb_areas {
	uint64_t nba_middle[NB_AREAS];
};

/* Set the registers that point to the areas. */
void nb_emit_areas(struct nb_buffer *b, const struct nb_areas *areas);
/* Read the counters into nbf_begin, or, if `end`, into nbf_end. */
void nb_emit_read(
    struct nb_buffer *b, const struct nb_shape *s, bool no_mem, bool end);
/* Instructions from the code's end to the first read after it */
unsigned nb_insns_to_read(const struct nb_options *o);
/* Fill the front end with NOPs. */
void nb_emit_drain(struct nb_buffer *b);
/* Fill with NOPs up to an address that is `offset` above a multiple of 64. */
void nb_emit_align(struct nb_buffer *b, uint64_t offset);
/* Begin a loop, and end it.  The loop begins at `top`. */
void nb_emit_loop(struct nb_buffer *b, uint64_t count);
void nb_emit_loop_end(struct nb_buffer *b, const uint8_t *top);
/* Return to nb_enter(). */
void nb_emit_leave(struct nb_buffer *b);

/* Call generated code, which may change every register. */
void nb_enter(const void *code);
/* Generated code jumps here at its end. */
extern const char nb_leave[];

/* From an instruction that traps to the PC of its signal. */
extern const unsigned nb_trap_bytes;

/* Allocate the buffer and the areas. */
void nb_open(struct nb_buffer *b, const struct nb_options *o);
/* Generate a function that counts, or one for -code_one_time_init. */
void nb_generate(
    struct nb_buffer *b, const struct nb_options *o, const struct nb_shape *s);
void nb_generate_one_time(struct nb_buffer *b, const struct nb_options *o);
/* Handle signals that the code causes: say where, and exit. */
void nb_catch(const struct nb_buffer *b, const struct nb_options *o);

/*
 * ARCH/msr.c: read a model-specific register, or write it.  Returns false if
 * this CPU does not have it, or does not take this value.
 */
bool nb_msr_read(struct nb_msr *m);
bool nb_msr_write(const struct nb_msr *m);

/*
 * registers.c: write the registers of an event of -msr_config, and restore the
 * old values; exit() restores them, too.  The first returns false, with the
 * reason, if this CPU refuses one of them.  One struct is in use at a time.
 */
struct nb_registers {
	unsigned nbg_n;
	struct nb_msr nbg_old[NB_ATTRS];
};
bool nb_registers_set(
    struct nb_registers *g, const struct nb_event *e, char *reason, size_t len);
void nb_registers_restore(struct nb_registers *g);

/* pass.c: events that are counted together */
struct nb_result {
	const struct nb_event *nbr_event;
	enum status nbr_status;
	char nbr_reason[2 * CPC_MAX_EVENT_LEN];
	int64_t nbr_code; /* -1: not known */
	int nbr_pic;
	struct quantity nbr_count;
	struct runs *nbr_runs, *nbr_empty; /* of its pass */
};

/* Count all events.  Returns the number of passes. */
unsigned nb_run(const struct nb_options *o, cpc_t *cpc, struct nb_buffer *b,
    const struct nb_event *events, struct nb_result *results, size_t n);

/* cycles.c: count up to each cycle, and print.  False: nothing was counted. */
bool nb_cycles(const struct nb_options *o, cpc_t *cpc, struct nb_buffer *b,
    const struct nb_event *events, size_t n);

/* print.c: the results */
/* An aggregate, rounded to an integer. */
int64_t nb_aggregate_of(enum nb_aggregate a, const struct series *s);
/* Print a name, as a field of CSV if it needs that. */
void nb_print_name(const char *name);
void nb_print_titles(const struct nb_options *o);
void nb_print(const struct nb_options *o, const struct nb_result *r);
