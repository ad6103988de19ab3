/*
 * nb: counts the events of a few instructions.  Its options are nanoBench's.
 * The code comes in files of machine code; `scripts/barecpc nb` assembles it.
 */
#include <errno.h>
#include <fcntl.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/stat.h>
#include <unistd.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/usage.h"
#include "payloads/nb/nb.h"

#define MAX_CODE   (16 << 20)
#define MAX_COUNT  (1ULL << 32)
#define MAX_RUNS   10000
#define MAX_OFFSET 63

/* getopt's number of the first option of known[]. */
#define FIRST_OPTION 256

static struct nb_options options = {
	.nbo_common = { .o_runs = 10, .o_warmups = 5 },
	.nbo_name = "code",
	.nbo_unroll = 1000,
	.nbo_divisor = 1,
	.nbo_cpu = -1,
	.nbo_flags = CPC_COUNT_USER,
};

/* The kinds of options.  The last two take no argument. */
enum kind { CODE, TEXT, NUMBER, SMALL, PRIVILEGE, FLAG, AGGREGATE };
static const struct {
	const char *name;
	enum kind kind;
	void *to;
	uint64_t least, most; /* of a number; or least: the flag or value */
} known[] = {
	{ "code", CODE, &options.nbo_code[NB_CODE], 0, 0 },
	{ "code_init", CODE, &options.nbo_code[NB_INIT], 0, 0 },
	{ "code_late_init", CODE, &options.nbo_code[NB_LATE_INIT], 0, 0 },
	{ "code_one_time_init", CODE, &options.nbo_code[NB_ONE_TIME_INIT], 0,
	    0 },
	{ "linked", CODE, &options.nbo_linked, 0, 0 },
	{ "config", TEXT, &options.nbo_config, 0, 0 },
	{ "msr_config", TEXT, &options.nbo_msr_config, 0, 0 },
	{ "name", TEXT, &options.nbo_name, 0, 0 },
	{ "n_measurements", SMALL, &options.nbo_common.o_runs, 1, MAX_RUNS },
	{ "warm_up_count", SMALL, &options.nbo_common.o_warmups, 0, MAX_RUNS },
	{ "cpu", SMALL, &options.nbo_cpu, 0, INT32_MAX },
	{ "unroll_count", NUMBER, &options.nbo_unroll, 1, MAX_COUNT },
	{ "loop_count", NUMBER, &options.nbo_loops, 0, MAX_COUNT },
	{ "initial_warm_up_count", NUMBER, &options.nbo_initial_warm_ups, 0,
	    MAX_COUNT },
	{ "alignment_offset", NUMBER, &options.nbo_offset, 0, MAX_OFFSET },
	{ "divisor", NUMBER, &options.nbo_divisor, 1, MAX_COUNT },
	{ "linked_at", NUMBER, &options.nbo_linked_at, 0, INT64_MAX },
	{ "usr", PRIVILEGE, NULL, CPC_COUNT_USER, 0 },
	{ "os", PRIVILEGE, NULL, CPC_COUNT_SYSTEM, 0 },
	{ "avg", AGGREGATE, NULL, NB_AVG, 0 },
	{ "median", AGGREGATE, NULL, NB_MEDIAN, 0 },
	{ "min", AGGREGATE, NULL, NB_MIN, 0 },
	{ "max", AGGREGATE, NULL, NB_MAX, 0 },
	{ "fixed_counters", FLAG, &options.nbo_fixed, 0, 0 },
	{ "range", FLAG, &options.nbo_range, 0, 0 },
	{ "basic_mode", FLAG, &options.nbo_basic, 0, 0 },
	{ "no_mem", FLAG, &options.nbo_no_mem, 0, 0 },
	{ "no_normalization", FLAG, &options.nbo_no_normalization, 0, 0 },
	{ "remove_empty_events", FLAG, &options.nbo_remove_empty, 0, 0 },
	{ "df", FLAG, &options.nbo_drain, 0, 0 },
	{ "verbose", FLAG, &options.nbo_verbose, 0, 0 },
	{ "end_to_end", FLAG, &options.nbo_end_to_end, 0, 0 },
	{ "csv", FLAG, &options.nbo_csv, 0, 0 },
	{ "cycle_by_cycle", FLAG, &options.nbo_cycles, 0, 0 },
};
#define NKNOWN (sizeof known / sizeof known[0])

static struct nb_code
read_code(const char *name)
{
	struct nb_code c = { NULL, 0 };
	struct stat st;
	int fd = open(name, O_RDONLY);
	ssize_t n;

	if (fd == -1 || fstat(fd, &st) == -1)
		fail(2, "%s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		fail(2, "%s: not a file", name);
	if (st.st_size > MAX_CODE)
		fail(2, "%s: more than %d bytes of code", name, MAX_CODE);
	c.nbc_bytes = fail_unless_room(malloc((size_t)st.st_size + 1));
	while ((n = read(fd, c.nbc_bytes + c.nbc_n,
		    (size_t)st.st_size - c.nbc_n)) > 0)
		c.nbc_n += (size_t)n;
	if (n == -1)
		fail(2, "%s: %s", name, strerror(errno));
	close(fd);
	return c;
}

static void
take_option(size_t i)
{
	unsigned flag = (unsigned)known[i].least;
	char word[40];
	uint64_t n = 0;

	snprintf(word, sizeof word, "-%s", known[i].name);
	if (known[i].kind == NUMBER || known[i].kind == SMALL)
		n = usage_number(
		    word, optarg, known[i].least, known[i].most, "");
	switch (known[i].kind) {
	case CODE:
		*(struct nb_code *)known[i].to = read_code(optarg);
		break;
	case TEXT:
		*(const char **)known[i].to = optarg;
		break;
	case NUMBER:
		*(uint64_t *)known[i].to = n;
		break;
	case SMALL:
		*(unsigned *)known[i].to = (unsigned)n;
		break;
	case PRIVILEGE:
		options.nbo_flags &= ~flag;
		if (usage_number(word, optarg, 0, 1, "") == 1)
			options.nbo_flags |= flag;
		break;
	case FLAG:
		*(bool *)known[i].to = true;
		break;
	case AGGREGATE:
		options.nbo_aggregate = (enum nb_aggregate)known[i].least;
		break;
	}
}

static void
parse(struct nb_options *o, int argc, char **argv)
{
	struct option words[NKNOWN + 1] = { 0 };
	uint64_t all;
	int c;

	for (size_t i = 0; i < NKNOWN; i++)
		words[i] = (struct option){ .name = known[i].name,
			.has_arg = known[i].kind < FLAG,
			.val = FIRST_OPTION + (int)i };
	o->nbo_common.o_argc = argc;
	o->nbo_common.o_argv = argv;
	/* All code runs at one privilege, and some PMUs miscount one alone. */
	if (payload_privilege() == PAYLOAD_SYSTEM)
		o->nbo_flags |= CPC_COUNT_SYSTEM;
	usage_is("-code FILE [options]",
	    "`barecpc nb --help` and docs/nb.md have the options.\n");
	while ((c = usage_word(argc, argv, words)) != -1)
		take_option((size_t)(c - FIRST_OPTION));
	if (optind != argc)
		usage_mistake("%s: not an option", argv[optind]);
	if (__builtin_mul_overflow(
		o->nbo_unroll, o->nbo_loops > 0 ? o->nbo_loops : 1, &all) ||
	    __builtin_mul_overflow(all, o->nbo_divisor, &all) || all >> 63 != 0)
		usage_mistake("-unroll_count, -loop_count: their product is "
			      "above 2^63: lower one");
	if (o->nbo_flags == 0)
		usage_mistake("-usr 0 and -os 0: nothing would be counted");
	if (o->nbo_msr_config != NULL && o->nbo_cycles)
		usage_mistake("-msr_config: not with -cycle_by_cycle");
	if (o->nbo_msr_config != NULL && payload_privilege() != PAYLOAD_SYSTEM)
		usage_mistake("-msr_config: user code cannot read these "
			      "registers: add -privilege system");
}

static void
pin_to(int cpu)
{
	if (cpu != -1 && processor_bind(P_LWPID, P_MYID, cpu, NULL) == -1)
		fail(2, "-cpu %d: %s", cpu, strerror(errno));
}

static void
write_record(const struct nb_options *o, const struct nb_result *r)
{
	char label[200], method[80];
	const struct event e = { .e_name = r->nbr_event->nbe_name,
		.e_flags = r->nbr_event->nbe_flags,
		.e_pic = -1 };
	unsigned long long u = o->nbo_unroll;
	const struct result res = {
		.r_label = label,
		.r_event = &e,
		.r_code = r->nbr_code,
		.r_pic = r->nbr_pic,
		.r_status = r->nbr_status,
		.r_reason = r->nbr_reason,
		.r_method = method,
		.r_iterations =
		    u * (o->nbo_loops > 0 ? o->nbo_loops : 1) * o->nbo_divisor,
		.r_count = r->nbr_count,
		.r_runs = r->nbr_runs,
		.r_empty = r->nbr_empty,
		.r_verified = true,
	};

	snprintf(label, sizeof label, "nb/%s", o->nbo_name);
	if (o->nbo_end_to_end)
		snprintf(method, sizeof method, "none");
	else if (o->nbo_basic)
		snprintf(method, sizeof method, "0 copies");
	else
		snprintf(method, sizeof method,
		    "difference of %llu and %llu copies", 2 * u, u);
	report_record(&o->nbo_common, &res);
}

static bool
report(const struct nb_options *o, const struct nb_result *results, size_t n)
{
	const struct runs *last = NULL;
	bool counted = false;

	for (size_t i = 0; i < n; i++) {
		const struct nb_result *r = &results[i];

		nb_print(o, r);
		write_record(o, r);
		counted = counted || r->nbr_status == COUNTED;
	}
	for (size_t i = 0; i < n; i++) {
		const struct nb_result *r = &results[i];

		if (r->nbr_status != COUNTED || r->nbr_runs == last)
			continue;
		last = r->nbr_runs;
		runs_print(
		    stdout, "# ", r->nbr_event->nbe_name, "run", r->nbr_runs);
		runs_print(stdout, "# ", r->nbr_event->nbe_name,
		    "run of fewer copies", r->nbr_empty);
	}
	return counted;
}

int
main(int argc, char **argv)
{
	char why[2 * CPC_MAX_EVENT_LEN];
	struct nb_options *o = &options;
	struct nb_buffer b = { 0 };
	struct nb_event *events;
	struct nb_result *results;
	cpc_t *cpc;

	parse(o, argc, argv);
	pin_to(o->nbo_cpu);
	if ((cpc = cpc_open(CPC_VER_CURRENT)) != NULL)
		cpc_error_keep(cpc);
	else
		cpc_error_of_open(why, sizeof why);
	size_t n = nb_events(o, cpc, &events);
	if (cpc == NULL)
		fail(77, "<not supported>: %s", why);
	results = fail_unless_room(calloc(n, sizeof *results));
	nb_open(&b, o);
	nb_catch(&b, o);
	nb_print_titles(o);
	nb_generate_one_time(&b, o);
	nb_enter(b.nbb_start);
	if (o->nbo_cycles)
		return nb_cycles(o, cpc, &b, events, n) ? 0 : 77;
	nb_run(o, cpc, &b, events, results, n);
	return report(o, results, n) ? 0 : 77;
}
