/*
 * The proof at boot: why a count is believed.  It uses the operations that
 * count later: configure(), program() and stop() of the backend.
 *
 * The difference of two lengths cancels the instructions that start and stop a
 * PIC.  Retired instructions are architectural, so there is no tolerance.
 */
#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "lib/printf.h"
#include "lib/string.h"

#define SHORT_LOOP 100  /* iterations */
#define LONG_LOOP  2100 /* one count too many in 4000 is found */
/*
 * Firmware (SMM) may disturb a try.  An emulator that derives cycles from time
 * translates the loop in the first try.
 */
#define TRIES 5

/* Distances of a start from 2^width: the short loop stays below, or wraps. */
#define FAR           (1 << 24)
#define NEAR          50
#define FROM_OVERFLOW 100
/* Each seventh interrupt of an emulator may be lost: eight find that. */
#define OVERFLOWS 8
#define TURNS     32 /* of this CPU, while another one is busy */

static char complaint[PCBE_MAXPIC][96];

/* A set of one request. */
struct lone {
	struct pcbe_cfg ln_cfg;
	struct pcbe_set ln_set;
	struct cpc_page ln_page;
	struct cpc_page_req ln_req;
};

static bool
lone_init(struct lone *ln, const struct pcbe_ops *ops, unsigned pic,
    unsigned type, const struct cpc_event *ev, uint16_t flags)
{
	memset(ln, 0, sizeof *ln);
	ln->ln_cfg.pc_pic = (uint8_t)pic;
	ln->ln_cfg.pc_notify = (flags & CPC_OVF_NOTIFY_EMT) != 0;
	ln->ln_cfg.pc_flags = flags;
	ln->ln_set.ps_pics = 1U << pic;
	ln->ln_set.ps_type = (uint8_t)type;
	/* The lowest may become a helper. */
	ln->ln_set.ps_spare =
	    (uint32_t)((1ULL << ops->ncounters()) - 1) & ~ln->ln_set.ps_pics;
	ln->ln_set.ps_cfg = &ln->ln_cfg;
	ln->ln_set.ps_page = &ln->ln_page;
	if ((ev->ce_pics >> pic & 1) == 0 ||
	    ops->configure(&ln->ln_cfg, ev, 0, NULL, &ln->ln_set, NULL) != 0)
		return false;
	ln->ln_set.ps_n = 1;
	return true;
}

/*
 * Count a loop from a start.  All lengths must run the same copy of this code.
 * With UBSan, gcc made two copies, and one retired two instructions fewer.
 */
static __attribute__((noinline, noclone)) uint64_t
count_loop(struct lone *ln, const struct pcbe_ops *ops, uint64_t iterations,
    uint64_t from)
{
	ln->ln_req.cq_data = from;
	ops->program(&ln->ln_set);
	ops->spin(iterations);
	ops->stop(&ln->ln_set);
	return ln->ln_req.cq_data - from;
}

/* Does a long loop count what it must?  *brief becomes a short one's count. */
static bool
counts_right(struct lone *ln, const struct pcbe_ops *ops, bool exact,
    uint64_t *brief, char *text, size_t len)
{
	uint64_t want = PCBE_SPIN_INSNS * (LONG_LOOP - SHORT_LOOP);
	uint64_t a = count_loop(ln, ops, SHORT_LOOP, 0);
	uint64_t b = count_loop(ln, ops, LONG_LOOP, 0);

	*brief = a;
	if (b == 0)
		snprintf(text, len, "reads 0 after %d instructions",
		    PCBE_SPIN_INSNS * LONG_LOOP);
	else if (exact && b - a != want)
		snprintf(text, len, "counts %lu for %lu instructions",
		    (unsigned long)(b - a), (unsigned long)want);
	else if (b <= a)
		snprintf(text, len, "counts %lu, then %lu in a longer loop",
		    (unsigned long)a, (unsigned long)b);
	else
		return true;
	return false;
}

/*
 * The bits that the PIC lacks, or a wrap elsewhere, change the count by a power
 * of two that is larger than FAR.
 */
static bool
is_wide(struct lone *ln, const struct pcbe_ops *ops, bool exact, uint64_t brief,
    char *text, size_t len)
{
	static const uint64_t below[] = { FAR, NEAR };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t n = count_loop(ln, ops, SHORT_LOOP, -below[i]);

		if (exact ? n == brief : n != 0 && n < FAR)
			continue;
		snprintf(text, len,
		    "is not %u bits wide: counts %lu, not %lu, from 2^%u - %lu",
		    ops->width(ln->ln_cfg.pc_pic), (unsigned long)n,
		    (unsigned long)brief, ops->width(ln->ln_cfg.pc_pic),
		    (unsigned long)below[i]);
		return false;
	}
	return true;
}

/*
 * With a filter for user privilege, more iterations of the kernel's loop must
 * not count more.
 */
static bool
filters_right(
    struct lone *user, const struct pcbe_ops *ops, char *text, size_t len)
{
	uint64_t least = count_loop(user, ops, 1, 0);
	uint64_t n = count_loop(user, ops, 1 + SHORT_LOOP, 0) - least;

	if (n == 0)
		return true;
	snprintf(text, len,
	    "counts %lu in the kernel with a filter for user privilege",
	    (unsigned long)n);
	return false;
}

const char *
kcpc_prove(const struct pcbe_ops *ops, unsigned pic, unsigned type)
{
	const size_t len = sizeof complaint[pic];
	char *text = complaint[pic];
	struct lone kernel, user;
	struct cpc_event ev;
	bool exact = ops->proof_event(pic, type, &ev), right = false;
	uint64_t brief;

	if (!lone_init(&kernel, ops, pic, type, &ev, CPC_COUNT_SYSTEM))
		return "cannot count the event that would prove it";
	if (!lone_init(&user, ops, pic, type, &ev, CPC_COUNT_USER))
		return "cannot count at user privilege alone";
	for (unsigned i = 0; i < TRIES && !right; i++)
		right = counts_right(&kernel, ops, exact, &brief, text, len) &&
		        is_wide(&kernel, ops, exact, brief, text, len) &&
		        filters_right(&user, ops, text, len);
	return right ? NULL : text;
}

uint64_t
kcpc_count_turns(const struct pcbe_ops *ops, unsigned pic)
{
	struct cpc_event ev;
	struct lone ln;

	if (!ops->proof_event(pic, 0, &ev) ||
	    !lone_init(&ln, ops, pic, 0, &ev, CPC_COUNT_SYSTEM))
		return 0;
	ops->program(&ln.ln_set);
	for (unsigned i = 0; i < TURNS; i++)
		arch_relax();
	ops->stop(&ln.ln_set);
	return ln.ln_req.cq_data;
}

/*
 * Overflow PIC 0 once, and wait for the interrupt.  *late becomes the events
 * that it counted from the overflow to the stop.
 */
static bool
overflow_once(struct lone *ln, const struct pcbe_ops *ops,
    const struct pcbe_line *pl, uint64_t *late)
{
	uint64_t patience = pl->pl_us * arch_tick_hz() / 1000000, end;
	bool came;

	if (pl->pl_pending())
		return false;
	ln->ln_req.cq_data = -(uint64_t)FROM_OVERFLOW;
	end = arch_tick() + patience;
	ops->program(&ln->ln_set);
	while (!(came = pl->pl_pending()) && arch_tick() <= end)
		;
	came &= ops->stop(&ln->ln_set) == 1;
	if (came && pl->pl_take != NULL)
		pl->pl_take();
	*late = ln->ln_req.cq_data;
	return came && (int64_t)*late >= 0;
}

/* Overflow PIC 0 several times, as long as the interrupt comes. */
static unsigned
overflow_often(struct lone *ln, struct pcbe_ops *ops,
    const struct pcbe_line *pl, uint64_t *most)
{
	uint64_t late;
	unsigned n = 0;

	*most = 0;
	while (n < OVERFLOWS && overflow_once(ln, ops, pl, &late)) {
		*most = late > *most ? late : *most;
		n++;
	}
	ops->allstop(); /* with its interrupt disabled */
	return n;
}

bool
kcpc_prove_overflow(struct pcbe_ops *ops, const struct pcbe_line *pl,
    const char *how, bool exactly)
{
	static char text[128];
	struct cpc_event ev;
	bool insns = ops->proof_event(0, 0, &ev), freezes = ops->pcbe_freezes;
	uint64_t most;
	struct lone ln;

	ops->pcbe_overflow_proof = "does not come";
	ops->pcbe_freezes = ops->pcbe_no_freeze = false;
	if (!lone_init(
		&ln, ops, 0, 0, &ev, CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT))
		return false;
	unsigned n = overflow_often(&ln, ops, pl, &most);
	if (n == 0)
		return false;
	ops->pcbe_overflow_proof = text;
	if (n < OVERFLOWS)
		snprintf(text, sizeof text,
		    "comes%s, but not for overflow %u of %u", how, n + 1,
		    OVERFLOWS);
	else if (exactly)
		snprintf(text, sizeof text, "comes%s, at the instruction", how);
	else
		snprintf(text, sizeof text, "comes%s, at most %lu %s late", how,
		    (unsigned long)most, insns ? "instructions" : "cycles");
	if (n < OVERFLOWS || !freezes)
		return n == OVERFLOWS;
	ln.ln_set.ps_freeze = ln.ln_set.ps_pics;
	ln.ln_set.ps_config = PCBE_CONFIG_NEW;
	ops->pcbe_no_freeze = overflow_often(&ln, ops, pl, &most) < n;
	ops->pcbe_freezes = !ops->pcbe_no_freeze && most == 0;
	if (ops->pcbe_no_freeze)
		snprintf(text + strlen(text), sizeof text - strlen(text),
		    "; not with the PMU's freeze");
	else if (most != 0)
		snprintf(text + strlen(text), sizeof text - strlen(text),
		    "; the PMU's freeze fails: %lu more counted",
		    (unsigned long)most);
	return true;
}
