/*
 * opcost: prints the cost of the operations of the kernel and libcpc, in
 * retired instructions of both privileges.  The clock counts them: under QEMU's
 * -icount with shift=0, a clock of 1 GHz ticks once for each instruction.
 */
#include "tests/opcost/opcost.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/cpc.h>
#include <unistd.h>

#include <payload.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/usage.h"

#define RUNS 5

static cpc_t *cpc;
static cpc_set_t *set;
static cpc_buf_t *buf;
static int nreqs;

/* An empty function with libcpc's arguments, and a call of it. */
static int __attribute__((noinline)) no_op(cpc_t *c, cpc_set_t *s, cpc_buf_t *b)
{
	__asm__ volatile("" : : "r"(c), "r"(s), "r"(b) : "memory");
	return 0;
}

static void
empty_call(void)
{
	no_op(cpc, set, buf);
}

static void
null_call(void)
{
	getpid();
}

static void
take_sample(void)
{
	cpc_set_sample(cpc, set, buf);
}

static void
sample_call(void)
{
	static struct {
		struct cpc_sample head;
		uint64_t value[CPC_PAGE_REQS];
	} s;

	cpc_syscall(CPC_OP_SAMPLE, (uintptr_t)set >> 24, (uintptr_t)&s,
	    (uintptr_t)nreqs, 0);
}

static void
bind_unbind(void)
{
	cpc_bind_curlwp(cpc, set, 0);
	cpc_unbind(cpc, set);
}

static void
restart_set(void)
{
	cpc_set_restart(cpc, set);
}

static void
disable_enable(void)
{
	cpc_disable(cpc);
	cpc_enable(cpc);
}

/* The least cost of some runs of fn, the call included. */
static int64_t
least_cost(void (*volatile fn)(void))
{
	int64_t best = INT64_MAX, t;

	for (int i = 0; i < RUNS; i++) {
		t = (int64_t)cost_clock();
		fn();
		t = (int64_t)cost_clock() - t;
		if (t < best)
			best = t;
	}
	return best;
}

int64_t
cost_of(void (*fn)(void))
{
	static int64_t empty;

	if (empty == 0)
		empty = least_cost(empty_call);
	return least_cost(fn) - empty;
}

static const char *other_kind;
static int other_count;

void
cost_others(const char *others, int many)
{
	other_kind = others;
	other_count = many;
}

void
cost_row(const char *what, int n, int64_t cost)
{
	if (other_kind != NULL)
		printf("%-15s %-8s %4d %6lld\n", what, other_kind, other_count,
		    (long long)cost);
	else
		printf("%-19s %2d %6lld\n", what, n, (long long)cost);
}

static void
print_cost(const char *what, void (*fn)(void))
{
	cost_row(what, nreqs, cost_of(fn));
}

cpc_set_t *
cost_set(cpc_t *c, int n)
{
	cpc_set_t *s = fail_unless_room(cpc_set_create(c));

	for (int i = 0; i < n; i++) {
		if (cpc_set_add_request(c, s, "PAPI_tot_ins", 0,
			CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0, NULL) == -1)
			fail(1, "PAPI_tot_ins: %s", strerror(errno));
	}
	return s;
}

void
cost_bind(cpc_t *c, cpc_set_t *s)
{
	if (cpc_bind_curlwp(c, s, 0) == -1)
		cpc_error_of_bind();
}

void
cost_counting(cpc_t *c, int n)
{
	cpc = c;
	nreqs = n;
	set = cost_set(cpc, n);
	buf = cpc_buf_create(cpc, set);
	print_cost("bind+unbind", bind_unbind);
	cost_bind(cpc, set);
	print_cost("sample", take_sample);
	print_cost("sample by call", sample_call);
	print_cost("restart", restart_set);
	print_cost("disable+enable", disable_enable);
	cpc_disable(cpc);
	print_cost("sample frozen", take_sample);
	cpc_enable(cpc);
	cost_create(cpc, set, n);
	cpc_unbind(cpc, set);
	cost_switch("switch", cpc, set, n);
	cpc_set_destroy(cpc, set);
}

/* Print how many instructions an empty window counts, with one inline read. */
void
cost_window(cpc_t *c)
{
	cpc_attr_t pic = { "picnum", 0 };
	uint_t flags = payload_privilege() == PAYLOAD_USER ? CPC_COUNT_USER
	                                                   : CPC_COUNT_SYSTEM;
	cpc_set_t *s = fail_unless_room(cpc_set_create(c));

	if (cpc_set_add_request(c, s, "PAPI_tot_ins", 0, flags, 1, &pic) ==
		-1 ||
	    cpc_bind_curlwp(c, s, 0) == -1)
		fail(1, "PAPI_tot_ins on PIC 0: %s", strerror(errno));
	uint64_t empty = payload_empty(0);
	cpc_set_destroy(c, s);
	cost_row("inline window", 1, (int64_t)empty);
}

static void
is_it_instructions(void *found, uint_t pic, const char *event)
{
	(void)pic;
	if (strcmp(event, "PAPI_tot_ins") == 0)
		*(bool *)found = true;
}

/* The number of PICs that count instructions; some PICs count other events. */
static int
usable_pics(void)
{
	int n = 0;

	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		bool found = false;

		cpc_walk_generic_events_pic(
		    cpc, pic, &found, is_it_instructions);
		n += found;
	}
	return n;
}

int
main(int argc, char **argv)
{
	static const int some[] = { 1, 2, 4 };
	char why[160];
	bool flat;

	usage_is("[flat | assign]",
	    "  flat    the same while 1, 10, 100 and 1,000 other objects "
	    "exist\n"
	    "  assign  the most expensive assignment of PICs by a bind\n");
	usage_option(argc, argv, ":", NULL);
	const char *what = optind < argc ? argv[optind] : NULL;
	if (argc - optind > 1)
		usage_mistake("%s: give only one table", argv[optind + 1]);
	flat = what != NULL && strcmp(what, "flat") == 0;
	if (what != NULL && !flat && strcmp(what, "assign") != 0)
		usage_mistake("%s: no such table", what);
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(77, "<not supported>: %s",
		    cpc_error_of_open(why, sizeof why));
	if (what != NULL) {
		cpc_close(cpc);
		return flat ? cost_flat() : cost_assign();
	}
	printf("%-19s %2s %6s\n", "operation", "n", "cost");
	print_cost("null call", null_call);
	cost_switch("switch", cpc, NULL, 0);
	cost_create(cpc, NULL, 0);
	cost_signals();
	cost_overflows(cpc);
	cost_window(cpc);
	int all = usable_pics();
	for (unsigned i = 0; i < sizeof some / sizeof some[0]; i++) {
		if (some[i] < all)
			cost_counting(cpc, some[i]);
	}
	cost_counting(cpc, all);
	cpc_close(cpc);
	return 0;
}
