/*
 * The proof at boot.  It uses the functions that count later: configure(),
 * program() and stop() of the backend.
 */
#include <stddef.h>

#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/pmu.h"
#include "kern/arch.h"
#include "lib/printf.h"
#include "lib/string.h"

#define SHORT_LOOP    1000
#define LONG_LOOP     3000
#define TRIES         3   /* firmware (SMM) may disturb a try */
#define FROM_OVERFLOW 100 /* events from the start to the overflow */
#define PATIENCE_MS   50  /* a hypervisor may deliver the interrupt late */

static char complaint[PCBE_MAXPIC][64];

/* A set of one request, which counts at system privilege. */
struct lone {
	struct pcbe_cfg ln_cfg;
	struct pcbe_set ln_set;
	struct cpc_page ln_page;
	struct cpc_page_req ln_req;
};

static bool
lone_init(struct lone *ln, const struct pcbe_ops *ops, unsigned pic,
    const struct pcbe_event *ev, bool notify)
{
	memset(ln, 0, sizeof *ln);
	ln->ln_cfg.pc_pic = (uint8_t)pic;
	ln->ln_cfg.pc_notify = notify;
	ln->ln_cfg.pc_flags = CPC_COUNT_SYSTEM;
	ln->ln_set.ps_pics = 1U << pic;
	ln->ln_set.ps_cfg = &ln->ln_cfg;
	ln->ln_set.ps_page = &ln->ln_page;
	if ((ev->pe_pics >> pic & 1) == 0)
		return false;
	if (ops->configure(&ln->ln_cfg, ev, 0, NULL, &ln->ln_set) != 0)
		return false;
	ln->ln_set.ps_n = 1;
	return true;
}

/*
 * Count a loop.  Both lengths must run the same copy of this code.  With UBSan,
 * gcc made two copies, and one retired two instructions fewer.
 */
static __attribute__((noinline, noclone)) uint64_t
count_loop(struct lone *ln, const struct pcbe_ops *ops, uint64_t iterations)
{
	ln->ln_req.cq_data = 0;
	ops->program(&ln->ln_set);
	pmu_spin(iterations);
	ops->stop(&ln->ln_set);
	return ln->ln_req.cq_data;
}

/*
 * The difference of two lengths cancels the instructions that start and stop
 * the PIC.  Retired instructions are architectural, so there is no tolerance.
 */
static const char *
check_counts(char *text, size_t len, uint64_t a, uint64_t b, bool exact)
{
	uint64_t want = PMU_SPIN_INSNS * (LONG_LOOP - SHORT_LOOP);

	if (b == 0)
		snprintf(text, len, "reads 0 after %d instructions",
		    PMU_SPIN_INSNS * LONG_LOOP);
	else if (exact && b - a != want)
		snprintf(text, len, "counts %lu for %lu instructions",
		    (unsigned long)(b - a), (unsigned long)want);
	else if (b <= a)
		snprintf(text, len, "counts %lu, then %lu in a longer loop",
		    (unsigned long)a, (unsigned long)b);
	else
		return NULL;
	return text;
}

const char *
x86_prove(const struct pcbe_ops *ops, unsigned pic, const struct pcbe_event *ev,
    bool exact)
{
	const char *wrong = "cannot count the event that would prove it";
	struct lone ln;

	if (!lone_init(&ln, ops, pic, ev, false))
		return wrong;
	for (unsigned i = 0; i < TRIES && wrong != NULL; i++) {
		uint64_t a = count_loop(&ln, ops, SHORT_LOOP);
		uint64_t b = count_loop(&ln, ops, LONG_LOOP);

		wrong = check_counts(
		    complaint[pic], sizeof complaint[pic], a, b, exact);
	}
	return wrong;
}

static bool
wait_until(bool (*pending)(void))
{
	uint64_t end = arch_tick() + PATIENCE_MS * arch_tick_hz() / 1000;

	while (!pending()) {
		if (arch_tick() > end)
			return false;
	}
	return true;
}

bool
x86_prove_overflow(const struct pcbe_ops *ops, bool (*pending)(void))
{
	struct pcbe_event ev;
	bool early, late;
	struct lone ln;

	if ((ops->known_event(PCBE_INSTRUCTIONS, &ev) & 1) == 0)
		ops->known_event(PCBE_CYCLES, &ev);
	if (!lone_init(&ln, ops, 0, &ev, true))
		return false;
	ln.ln_req.cq_data = -(uint64_t)FROM_OVERFLOW;
	early = pending();
	ops->program(&ln.ln_set);
	pmu_spin(LONG_LOOP);
	late = wait_until(pending);
	return ops->stop(&ln.ln_set) == 1 && !early && late;
}
