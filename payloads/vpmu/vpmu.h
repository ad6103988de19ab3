/*
 * vpmu: the parts of the check of a PMU.  Included by payloads/vpmu/.
 *
 * A point is one claim about one PIC, or about the PMU.  A property is a
 * function that judges it: it calls point_fail() or point_skip(), or the point
 * passes.
 */
#pragma once

#include <libcpc.h>

#include <stdbool.h>
#include <stdint.h>

#define VPMU_PICS 64

/* Iterations of the two loops whose counts are subtracted. */
#define SHORT_LOOP 1000
#define LONG_LOOP  3000
#define SPIN_INSNS 2 /* of an iteration of spin_loop() */
#define SPIN_WANT  (SPIN_INSNS * (LONG_LOOP - SHORT_LOOP))

/* A PIC, as the kernel describes it, and how it is tested. */
struct vpmu_pic {
	const char *vp_event;  /* what the PIC is made to count */
	bool vp_exact;         /* vp_event counts instructions */
	bool vp_fixed;         /* the PIC counts one event only */
	bool vp_offered;       /* it passed the proof at boot */
	unsigned vp_width;     /* of /dev/machine */
	char vp_unproved[160]; /* why it is not offered */
};

/* The machine; fixed after vpmu_open(). */
extern struct vpmu {
	cpc_t *v_cpc;
	unsigned v_npic, v_runs;
	bool v_system;  /* vpmu itself runs at system privilege */
	uint_t v_own;   /* CPC_COUNT_* of that privilege */
	int64_t v_late; /* counts, of an overflow interrupt; -1: not known */
	struct cpc_pmu v_pmu;
	struct vpmu_pic v_pic[VPMU_PICS];
} vpmu;

struct vpmu_property {
	const char *vpr_name;
	void (*vpr_judge)(unsigned pic);
	unsigned vpr_needs;
};
/* Reasons to skip a property, tested in main. */
#define NEEDS_USER   0x1 /* user privilege */
#define NEEDS_SYSTEM 0x2 /* system privilege */
#define NEEDS_EXACT  0x4 /* a PIC that counts instructions */
#define NEEDS_CPUS   0x8 /* two CPUs */

/* The properties of each PIC and of the PMU; the last vpr_name is NULL. */
extern const struct vpmu_property count_properties[], range_properties[],
    overflow_properties[], lwp_properties[];
extern const struct vpmu_property set_properties[], model_properties[];
/* The architecture's: the PMU, its registers, and each fixed PIC. */
extern const struct vpmu_property arch_properties[], register_properties[],
    fixed_properties[];

/* event.c: a point for each event of arch_events(). */
void judge_events(void);
/* believe.c: a point for each event whose number in a loop is known. */
void judge_offered(void);

/* steady.c: note what took time or cycles since the first was called. */
void steady_begin(void);
void note_steady(void);

/* report.c: the points. */
void report_begin(const char *group, const char *name);
void report_end(void);
/* A line of text; the point's verdict does not change. */
void point_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The first reason is the point's; later ones are notes. */
void point_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void point_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The point fails unless the two are equal. */
void point_equal(const char *what, int64_t got, int64_t want);
/* TAP at once, and JUnit's XML at the end.  Without either: TAP. */
void report_start(bool junit, bool tap);
/* Nothing can be tested: the reason.  Returns the exit status. */
int report_nothing(const char *reason);
/* The end of all points.  Returns the exit status. */
int report_finish(void);

/* measure.c: a bound set, and counts under it. */
struct measure {
	cpc_set_t *vm_set;
	cpc_buf_t *vm_before, *vm_after;
	int vm_n; /* requests */
};

/* Read /dev/machine and the PMU into `vpmu`.  v_cpc is open. */
void vpmu_open(void);

void measure_init(struct measure *m);
/* Add a request for the event of this PIC.  Fails the point, too. */
bool measure_add(
    struct measure *m, unsigned pic, uint_t flags, uint64_t preset);
/* Buffers for the requests that the set has now. */
void measure_buffers(struct measure *m);
/* Buffers, and bind.  False, and the point fails, if libcpc refuses. */
bool measure_bind(struct measure *m);
/* The three above, for one request. */
bool measure_open(
    struct measure *m, unsigned pic, uint_t flags, uint64_t preset);
/* A request on every PIC; the set is closed if that fails. */
bool measure_open_all(struct measure *m);
void measure_close(struct measure *m);
/* Add a request for a code.  False if libcpc refuses it. */
#define ANY_PIC (-1)
bool measure_add_code(struct measure *m, int pic, const char *code,
    uint64_t umask, uint64_t cmask);
/* Bind a request for a code.  If refused, the set is closed. */
bool measure_open_code(struct measure *m, int pic, const char *code,
    uint64_t umask, uint64_t cmask);

/* Sample the set, and return the count of one request. */
uint64_t measure_sample(struct measure *m, int index);

/*
 * The least count of request 0 around body(n), of v_runs runs after one that
 * is not used.  At user privilege noise only adds to a count, so the least is
 * the count without noise if one run had none.
 */
int64_t measure_least(struct measure *m, void (*body)(uint64_t), uint64_t n);
/*
 * The least for LONG_LOOP less the least for SHORT_LOOP: what the two samples
 * and the call of body retire is in both, and cancels.
 */
int64_t measure_difference(struct measure *m, void (*body)(uint64_t));

/* Why libcpc refused last. */
const char *measure_refusal(void);

/* payloads/common/ARCH/spin.S */
void spin_loop(uint64_t iterations);
void give_turn(void);

/* ARCH/: what the machine's own instructions are needed for. */

/* The PIC's value, by the instruction that programs read it with. */
uint64_t arch_raw(unsigned index);

/*
 * A loop with an instruction in it that a hypervisor must emulate, or NULL.
 * The second is the number of instructions of an iteration.
 */
extern void (*const arch_trapped_loop)(uint64_t iterations);
extern const unsigned arch_trapped_insns;

/* Events of the architecture, and how often a loop makes them occur. */
enum event_rule {
	EVENT_GROWS,    /* more in the longer loop */
	EVENT_INSNS,    /* SPIN_INSNS an iteration */
	EVENT_BRANCHES, /* one an iteration */
};
struct arch_event {
	const char *av_name, *av_code;
	uint64_t av_umask;
	enum event_rule av_rule;
	unsigned av_bit; /* of the enumeration */
};
/* The last av_name is NULL. */
const struct arch_event *arch_events(void);

enum announced { ANNOUNCED, NOT_ANNOUNCED, NOT_ENUMERATED };
enum announced arch_announced(const struct arch_event *ae);
