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

enum {
	OPTION_CODE = 256, /* one number for each nb_part */
	OPTION_CONFIG = OPTION_CODE + NB_PARTS,
	OPTION_MSR_CONFIG,
	OPTION_RUNS,
	OPTION_UNROLL,
	OPTION_LOOPS,
	OPTION_WARM_UPS,
	OPTION_INITIAL,
	OPTION_OFFSET,
	OPTION_AGGREGATE, /* one number for each nb_aggregate */
	OPTION_CPU = OPTION_AGGREGATE + NB_MAX + 1,
	OPTION_USR,
	OPTION_OS,
	OPTION_NAME,
	OPTION_DIVISOR,
	OPTION_LINKED,
	OPTION_LINKED_AT,
	OPTION_FLAG /* one number for each of flags[] */
};

#define TAKES(name, number)                                                    \
	{                                                                      \
		name, required_argument, NULL, number                          \
	}
#define PLAIN(name, number)                                                    \
	{                                                                      \
		name, no_argument, NULL, number                                \
	}
static const struct option long_options[] = {
	TAKES("code", OPTION_CODE + NB_CODE),
	TAKES("code_init", OPTION_CODE + NB_INIT),
	TAKES("code_late_init", OPTION_CODE + NB_LATE_INIT),
	TAKES("code_one_time_init", OPTION_CODE + NB_ONE_TIME_INIT),
	TAKES("config", OPTION_CONFIG),
	TAKES("msr_config", OPTION_MSR_CONFIG),
	TAKES("n_measurements", OPTION_RUNS),
	TAKES("unroll_count", OPTION_UNROLL),
	TAKES("loop_count", OPTION_LOOPS),
	TAKES("warm_up_count", OPTION_WARM_UPS),
	TAKES("initial_warm_up_count", OPTION_INITIAL),
	TAKES("alignment_offset", OPTION_OFFSET),
	PLAIN("avg", OPTION_AGGREGATE + NB_AVG),
	PLAIN("median", OPTION_AGGREGATE + NB_MEDIAN),
	PLAIN("min", OPTION_AGGREGATE + NB_MIN),
	PLAIN("max", OPTION_AGGREGATE + NB_MAX),
	TAKES("cpu", OPTION_CPU),
	TAKES("usr", OPTION_USR),
	TAKES("os", OPTION_OS),
	TAKES("name", OPTION_NAME),
	TAKES("divisor", OPTION_DIVISOR),
	TAKES("linked", OPTION_LINKED),
	TAKES("linked_at", OPTION_LINKED_AT),
	PLAIN("fixed_counters", OPTION_FLAG),
	PLAIN("range", OPTION_FLAG + 1),
	PLAIN("basic_mode", OPTION_FLAG + 2),
	PLAIN("no_mem", OPTION_FLAG + 3),
	PLAIN("no_normalization", OPTION_FLAG + 4),
	PLAIN("remove_empty_events", OPTION_FLAG + 5),
	PLAIN("df", OPTION_FLAG + 6),
	PLAIN("verbose", OPTION_FLAG + 7),
	PLAIN("end_to_end", OPTION_FLAG + 8),
	PLAIN("csv", OPTION_FLAG + 9),
	PLAIN("cycle_by_cycle", OPTION_FLAG + 10),
	{ NULL, 0, NULL, 0 },
};

/* The option that is just a word, by its number. */
static bool *
flag_of(struct nb_options *o, int number)
{
	bool *const flags[] = { &o->nbo_fixed, &o->nbo_range, &o->nbo_basic,
		&o->nbo_no_mem, &o->nbo_no_normalization, &o->nbo_remove_empty,
		&o->nbo_drain, &o->nbo_verbose, &o->nbo_end_to_end, &o->nbo_csv,
		&o->nbo_cycles };

	return flags[number];
}

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
set_privilege(struct nb_options *o, const char *what, unsigned flag)
{
	if (usage_number(what, optarg, 0, 1, "") == 1)
		o->nbo_flags |= flag;
	else
		o->nbo_flags &= ~flag;
}

static void
take_option(struct nb_options *o, int c)
{
	if (c >= OPTION_FLAG)
		*flag_of(o, c - OPTION_FLAG) = true;
	else if (c >= OPTION_AGGREGATE && c < OPTION_CPU)
		o->nbo_aggregate = (enum nb_aggregate)(c - OPTION_AGGREGATE);
	else if (c < OPTION_CONFIG)
		o->nbo_code[c - OPTION_CODE] = read_code(optarg);
	else if (c == OPTION_CONFIG)
		o->nbo_config = optarg;
	else if (c == OPTION_MSR_CONFIG)
		o->nbo_msr_config = optarg;
	else if (c == OPTION_RUNS)
		o->nbo_common.o_runs = (unsigned)usage_number(
		    "-n_measurements", optarg, 1, MAX_RUNS, "");
	else if (c == OPTION_UNROLL)
		o->nbo_unroll =
		    usage_number("-unroll_count", optarg, 1, MAX_COUNT, "");
	else if (c == OPTION_LOOPS)
		o->nbo_loops =
		    usage_number("-loop_count", optarg, 0, MAX_COUNT, "");
	else if (c == OPTION_WARM_UPS)
		o->nbo_common.o_warmups = (unsigned)usage_number(
		    "-warm_up_count", optarg, 0, MAX_RUNS, "");
	else if (c == OPTION_INITIAL)
		o->nbo_initial_warm_ups = usage_number(
		    "-initial_warm_up_count", optarg, 0, MAX_COUNT, "");
	else if (c == OPTION_OFFSET)
		o->nbo_offset = usage_number(
		    "-alignment_offset", optarg, 0, MAX_OFFSET, "");
	else if (c == OPTION_CPU)
		o->nbo_cpu =
		    (int)usage_number("-cpu", optarg, 0, INT32_MAX, "");
	else if (c == OPTION_USR)
		set_privilege(o, "-usr", CPC_COUNT_USER);
	else if (c == OPTION_OS)
		set_privilege(o, "-os", CPC_COUNT_SYSTEM);
	else if (c == OPTION_DIVISOR)
		o->nbo_divisor =
		    usage_number("-divisor", optarg, 1, MAX_COUNT, "");
	else if (c == OPTION_LINKED)
		o->nbo_linked = read_code(optarg);
	else if (c == OPTION_LINKED_AT)
		o->nbo_linked_at =
		    usage_number("-linked_at", optarg, 0, INT64_MAX, "");
	else
		o->nbo_name = optarg;
}

static void
parse(struct nb_options *o, int argc, char **argv)
{
	uint64_t all;
	int c;

	*o = (struct nb_options){
		.nbo_common = { .o_argc = argc,
		    .o_argv = argv,
		    .o_runs = 10,
		    .o_warmups = 5 },
		.nbo_name = "code",
		.nbo_unroll = 1000,
		.nbo_divisor = 1,
		.nbo_cpu = -1,
		.nbo_flags = CPC_COUNT_USER,
	};
	/* All code runs at one privilege, and some PMUs miscount one alone. */
	if (payload_privilege() == PAYLOAD_SYSTEM)
		o->nbo_flags |= CPC_COUNT_SYSTEM;
	usage_is("-code FILE [options]",
	    "`barecpc nb --help` and docs/nb.md have the options.\n");
	while ((c = usage_word(argc, argv, long_options)) != -1)
		take_option(o, c);
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
	struct nb_options o;
	struct nb_buffer b = { 0 };
	struct nb_event *events;
	struct nb_result *results;
	cpc_t *cpc;
	size_t n;

	parse(&o, argc, argv);
	pin_to(o.nbo_cpu);
	if ((cpc = cpc_open(CPC_VER_CURRENT)) != NULL)
		cpc_error_keep(cpc);
	else
		cpc_error_of_open(why, sizeof why);
	n = nb_events(&o, cpc, &events);
	if (cpc == NULL)
		fail(77, "<not supported>: %s", why);
	results = fail_unless_room(calloc(n, sizeof *results));
	nb_open(&b, &o);
	nb_catch(&b, &o);
	nb_print_titles(&o);
	nb_generate_one_time(&b, &o);
	nb_enter(b.nbb_start);
	if (o.nbo_cycles)
		return nb_cycles(&o, cpc, &b, events, n) ? 0 : 77;
	nb_run(&o, cpc, &b, events, results, n);
	return report(&o, results, n) ? 0 : 77;
}
