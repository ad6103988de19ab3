/*
 * record: profiles another program, and the programs that it forks and
 * executes.  Each time a number of events has passed, record samples the
 * program counter, as perf record does.
 *
 *	record [-g] [-n] [-a] [-e event[:uk]] [-c period] [-o file]
 *	    [--timeout ms] program [args...]
 *
 * Prints the functions, writes the stacks to records (docs/records.md), and
 * ends with the program's status.
 */
#include "payloads/common/cpc_error.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/options.h"
#include "payloads/common/report.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"
#include "payloads/record/sample_file.h"
#include "payloads/record/symbols.h"
#include "payloads/tools/child.h"
#include "payloads/tools/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libcpc.h>
#include <payload.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_DEFAULT 100003 /* a prime, so that no loop has this period */
#define PERIOD_MAX     INT32_MAX
#define STATUS_WRONG   125 /* as of scripts/barecpc: the guest failed */
/*
 * If the kernel is counted, a part of its work for a sample is counted too,
 * some 150 instructions.  With a shorter period the program would not advance.
 * On a machine that reports an overflow in the kernel only when the kernel
 * returns, each system call has at most one sample.  There the period must be
 * longer than most calls.
 */
#define PERIOD_MIN_SYSTEM 1000
#define PERIOD_MIN_CALL   10000

static const char arguments[] =
    "[-g] [-n] [-a] [-e event[:uk]] [-c period] [-o file] [--timeout ms] "
    "program [args...]";
static const char help[] =
    "  -e EVENT[:uk]  what to count (PAPI_tot_ins)\n"
    "  -c PERIOD      events from one sample to the next (100003)\n"
    "  -g             sample the callers, too\n"
    "  -n             no titles\n"
    "  -a             also leave the address and time of each sample\n"
    "  -o FILE        write the table to FILE on the host\n"
    "  --timeout MS   end the program after this many milliseconds\n";

static struct profile {
	int argc; /* of record itself */
	char **argv;
	char **program; /* its arguments */
	struct event event;
	uint64_t period;
	unsigned timeout; /* in ms; 0: none */
	bool stacks, titles;
	const char *out_name;
	FILE *out;  /* of the table */
	int status; /* the program's */
	struct child_keys keys;
	struct cpc_profile_stat stat;
	struct sampled sampled;
} pr = { .period = PERIOD_DEFAULT, .titles = true };

static void
parse_options(int argc, char **argv)
{
	static char event[] = "PAPI_tot_ins";
	char *list = NULL, *name = event;
	int c;

	pr.argc = argc;
	pr.argv = argv;
	usage_is(arguments, help);
	while ((c = usage_option(argc, argv, "+:gnae:c:o:", child_options)) !=
	       -1) {
		if (c == 'g')
			pr.stacks = true;
		else if (c == 'n')
			pr.titles = false;
		else if (c == 'a')
			pr.sampled.sd_addresses = true;
		else if (c == 'o')
			pr.out_name = optarg;
		else if (c == 'e' && list != NULL)
			usage_mistake("-e: give only one event");
		else if (c == 'e')
			list = fail_unless_room(strdup(optarg));
		else if (c == 'c')
			pr.period =
			    usage_number("-c", optarg, 1, PERIOD_MAX, "");
		else
			pr.timeout = child_timeout(optarg);
	}
	if (optind == argc)
		usage_mistake("no program to profile");
	if (list != NULL)
		name = options_next(&list);
	if (list != NULL)
		usage_mistake("-e: give only one event");
	if (!options_event(&pr.event, name))
		usage_mistake("-e: an event without a name");
	pr.program = argv + optind;
}

/* Read the header of the profile's file into pr.stat. */
static void
read_header(int fd)
{
	if (cpc_syscall(CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&pr.stat,
		0, 0) != 0)
		fail(1, "cannot read the profile");
}

static void
check_period(void)
{
	uint64_t least = 1;

	if ((pr.event.e_flags & CPC_COUNT_SYSTEM) != 0)
		least = pr.stat.ct_kernel != 0 ? PERIOD_MIN_SYSTEM
		                               : PERIOD_MIN_CALL;
	if (pr.period < least)
		usage_mistake("-c: %" PRIu64 " is not within %" PRIu64 "..%d",
		    pr.period, least, PERIOD_MAX);
}

/*
 * End because the event was refused: 1 if it may be counted later, 2 if it is
 * unknown, 77 if this machine lacks it.
 */
static _Noreturn void
refuse_event(void)
{
	const char *name = pr.event.e_name, *why = cpc_error_text();

	if (errno == EAGAIN || errno == ENOMEM)
		fail(1, "%s: %s", name, why);
	if (perf_name_mistyped(name))
		fail(2, "%s: %s", name, why);
	fail(77, "<not supported>: %s: %s", name, why);
}

/* Make a set of the request, and bind it: errors come before the child runs. */
static cpc_set_t *
make_set(cpc_t *cpc)
{
	cpc_set_t *set = cpc_set_create(cpc);

	if (set == NULL)
		fail(1, "%s", strerror(errno));
	if (event_never_counts(&pr.event))
		fail(77, "<not supported>: %s: %s", pr.event.e_name,
		    NEVER_COUNTED);
	if (perf_add_request(cpc, set, pr.event.e_name, -pr.period,
		pr.event.e_flags | CPC_OVF_NOTIFY_EMT, 0, NULL) == -1)
		refuse_event();
	/* Until CPC_OP_PROFILE, an overflow sends SIGEMT. */
	signal(SIGEMT, SIG_IGN);
	cpc_error_forget();
	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		refuse_event();
	cpc_unbind(cpc, set);
	return set;
}

/* In the child: start the profile, and execute the program. */
static void __attribute__((noreturn))
become_program(cpc_t *cpc, cpc_set_t *set, int fd)
{
	child_input();
	if (cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT) == -1)
		fail(1, "%s: %s", pr.event.e_name, cpc_error_text());
	if (cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd,
		pr.stacks ? CPC_PROFILE_DEPTH : 1, 0, 0) != 0)
		fail(1, "cannot profile");
	signal(SIGEMT, SIG_DFL);
	child_exec(pr.program);
	fail(1, "%s: %s", pr.program[0], strerror(errno));
}

static void
run_program(cpc_t *cpc, cpc_set_t *set, int fd)
{
	pid_t pid;

	payload_progress(0, 1);
	fflush(stdout);
	if ((pid = fork()) == -1)
		fail(1, "%s", strerror(errno));
	if (pid == 0)
		become_program(cpc, set, fd);
	pr.status = child_wait(pid, pr.program[0], pr.timeout, &pr.keys);
}

/*
 * Is every event the kernel's?  A sample's program counter then is the
 * program's next instruction, which shows the system call it made.
 */
static bool
is_kernel(void)
{
	return pr.event.e_flags == CPC_COUNT_SYSTEM &&
	       payload_privilege() == PAYLOAD_USER;
}

static void
take_samples(int fd)
{
	static uint64_t buf[8192];
	ssize_t n;

	pr.sampled.sd_fd = fd;
	read_header(fd);
	while ((n = read(fd, buf, sizeof buf)) > 0) {
		for (size_t at = 0; at < (size_t)n / sizeof *buf;) {
			const struct cpc_profile_sample *s =
			    (const struct cpc_profile_sample *)&buf[at];

			sampled_add(&pr.sampled, s);
			at += sizeof *s / sizeof *buf + s->cm_nframes;
		}
	}
	if (n == -1)
		fail(1, "cannot read the profile: %s", strerror(errno));
}

static void
print_table(void)
{
	struct histogram_entry **all =
	    histogram_sorted(&pr.sampled.sd_functions);
	const struct cpc_profile_stat *st = &pr.stat;
	char event[REPORT_EVENT];

	if (pr.titles)
		fprintf(pr.out,
		    "# %s, a sample each %" PRIu64 ": %" PRIu64
		    " samples, %" PRIu64 " events, LWPs: %" PRIu32
		    ", sampled: %.2f%%\n"
		    "# Overhead    Samples  Command           Symbol\n",
		    report_event(event, sizeof event, &pr.event), pr.period,
		    st->ct_samples, st->ct_events, st->ct_lwps,
		    100.0 * (double)(st->ct_samples * pr.period) /
			(double)(st->ct_events + (st->ct_events == 0)));
	if (st->ct_missed != 0)
		fprintf(pr.out,
		    "# %" PRIu64 " of %" PRIu64 " periods have no sample: the "
		    "interrupt of their overflow came late, or not at all\n",
		    st->ct_missed, st->ct_missed + st->ct_samples);
	if (pr.keys.ck_cut)
		fputs("# interrupted: the samples end there\n", pr.out);
	if (st->ct_lost != 0)
		fprintf(pr.out,
		    "# %" PRIu64 " samples were lost: no room for them\n",
		    st->ct_lost);
	if (st->ct_left != 0)
		fprintf(pr.out,
		    "# LWPs that outlived the program, and are not sampled "
		    "to their end: %" PRIu32 "\n",
		    st->ct_left);
	if (st->ct_revoked != 0)
		fprintf(pr.out,
		    "# %" PRIu32 " LWPs were not sampled to their end: a set "
		    "was bound to a CPU\n",
		    st->ct_revoked);
	for (size_t i = 0; i < pr.sampled.sd_functions.hg_n; i++)
		fprintf(pr.out, "%9.2f%%  %9" PRIu64 "  %s\n",
		    100.0 * (double)all[i]->hge_count /
			(double)pr.sampled.sd_functions.hg_sum,
		    all[i]->hge_count, all[i]->hge_name);
	free(all);
}

/* A part of the stacks or samples, because a record has a limited length. */
#define PART_BYTES   (128 << 10)
#define SAMPLE_BYTES 64 /* of one sample, at most */

struct part {
	struct histogram_entry **stack;
	const struct placed *sample;
	size_t n;
};

static void
write_head(FILE *f)
{
	const struct cpc_profile_stat *st = &pr.stat;
	static unsigned number;

	json_member(f, "program", pr.program[0]);
	json_member(f, "event", pr.event.e_name);
	report_errata(f, pr.event.e_name, -1, -1);
	json_privilege(f, pr.event.e_flags);
	json_looks(f, pr.keys.ck_looks, pr.keys.ck_cut);
	fprintf(f,
	    ",\"period\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"lost\":%" PRIu64
	    ",\"missed\":%" PRIu64 ",\"events\":%" PRIu64 ",\"lwps\":%" PRIu32
	    ",\"revoked\":%" PRIu32 ",\"status\":%d,\"part\":%u,\"folded\":[",
	    pr.period, st->ct_samples, st->ct_lost, st->ct_missed,
	    st->ct_events, st->ct_lwps, st->ct_revoked, pr.status, ++number);
}

static void
write_part(FILE *f, const void *arg)
{
	const struct part *part = arg;

	write_head(f);
	for (size_t i = 0; i < part->n; i++) {
		fputs(i == 0 ? "[" : ",[", f);
		json_string(f, part->stack[i]->hge_name);
		fprintf(f, ",%" PRIu64 "]", part->stack[i]->hge_count);
	}
	fputc(']', f);
}

static void
write_programs(FILE *f, const void *)
{
	const struct cpc_profile_image *im;
	const char *path;
	unsigned number;

	write_head(f);
	fputs("],\"programs\":[", f);
	for (unsigned n = 0; (im = sampled_program(n, &number, &path)) != NULL;
	     n++) {
		fprintf(f, "%s{\"image\":%u,\"bias\":\"%" PRIx64 "\"",
		    n == 0 ? "" : ",", number, im->ci_bias);
		if (im->ci_end != 0)
			fprintf(f,
			    ",\"of\":%" PRIu64 ",\"start\":\"%" PRIx64
			    "\",\"end\":\"%" PRIx64 "\"",
			    im->ci_of, im->ci_start, im->ci_end);
		json_member(f, "path", path);
		fputc('}', f);
	}
	fputc(']', f);
}

static void
write_addresses(FILE *f, const void *arg)
{
	const struct part *part = arg;

	write_head(f);
	fputs("],\"addresses\":[", f);
	for (size_t i = 0; i < part->n; i++) {
		fprintf(
		    f, "%s[%zu,", i == 0 ? "" : ",", part->stack[i]->hge_place);
		json_string(f, part->stack[i]->hge_name);
		fputc(']', f);
	}
	fputc(']', f);
}

static void
write_samples(FILE *f, const void *arg)
{
	const struct part *part = arg;

	write_head(f);
	fputs("],\"trace\":[", f);
	for (size_t i = 0; i < part->n; i++)
		fprintf(f, "%s[%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%zu]",
		    i == 0 ? "" : ",", part->sample[i].psm_hrtime,
		    part->sample[i].psm_pid, part->sample[i].psm_tid,
		    part->sample[i].psm_stack);
	fputc(']', f);
}

/* Leave records of all stacks of the histogram. */
static void
leave_stacks(
    const struct histogram *hg, void (*members)(FILE *f, const void *arg))
{
	struct histogram_entry **all = histogram_sorted(hg);
	struct part part = { .stack = all };
	size_t i = 0, bytes;

	do {
		bytes = 0;
		for (part.n = 0; i < hg->hg_n && bytes < PART_BYTES; part.n++)
			bytes += strlen(all[i++]->hge_name) + 32;
		json_record(pr.argc, pr.argv, members, &part);
		part.stack += part.n;
	} while (i < hg->hg_n);
	free(all);
}

static void
leave_records(void)
{
	const struct sampled *sd = &pr.sampled;
	struct part part = { .sample = sd->sd_placed };
	size_t left = sd->sd_nplaced;

	leave_stacks(&sd->sd_folded, write_part);
	if (!sd->sd_addresses)
		return;
	json_record(pr.argc, pr.argv, write_programs, NULL);
	leave_stacks(&sd->sd_stacks, write_addresses);
	for (; left > 0; left -= part.n, part.sample += part.n) {
		part.n = left < PART_BYTES / SAMPLE_BYTES
		             ? left
		             : PART_BYTES / SAMPLE_BYTES;
		json_record(pr.argc, pr.argv, write_samples, &part);
	}
}

/*
 * The status to end with.  Periods without a sample are a fault of the machine.
 * They are not where time is the host's, or where the kernel is counted and
 * cannot be interrupted.
 */
static int
judge(void)
{
	const struct cpc_profile_stat *st = &pr.stat;
	char clock[16];

	if (st->ct_missed == 0 ||
	    ((pr.event.e_flags & CPC_COUNT_SYSTEM) != 0 &&
		st->ct_kernel == 0) ||
	    (report_machine("clock", clock, sizeof clock) != NULL &&
		strcmp(clock, "host") == 0))
		return pr.status;
	fprintf(stderr,
	    "%s: %s: %" PRIu64 " of %" PRIu64 " periods have no sample: check "
	    "this PMU by vpmu, or give a longer period by -c\n",
	    usage_name(), pr.program[0], st->ct_missed,
	    st->ct_missed + st->ct_samples);
	return STATUS_WRONG;
}

int
main(int argc, char **argv)
{
	struct symbols *symbols;
	const char *wrong;
	char why[160];
	cpc_t *cpc;
	int fd;

	parse_options(argc, argv);
	pr.out = stdout;
	if (pr.out_name != NULL && (pr.out = out_open(pr.out_name)) == NULL)
		fail(2, "-o: %s: %s", pr.out_name, strerror(errno));
	if ((symbols = symbols_load(pr.program[0], &wrong)) == NULL)
		fail(2, "%s: %s", pr.program[0], wrong);
	symbols_free(symbols);
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(77, "<not supported>: %s",
		    cpc_error_of_open(why, sizeof why));
	cpc_error_keep(cpc);
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		fail(77, "<not supported>: overflows do not interrupt here");
	cpc_set_t *set = make_set(cpc);
	pr.sampled.sd_path = pr.program[0];
	pr.sampled.sd_kernel = is_kernel();
	if ((fd = open("/dev/profile", O_RDONLY | O_CLOEXEC)) == -1)
		fail(1, "/dev/profile: %s", strerror(errno));
	read_header(fd);
	check_period();
	run_program(cpc, set, fd);
	take_samples(fd);
	print_table();
	if (pr.out != stdout)
		out_close(pr.out, argc, argv);
	leave_records();
	return judge();
}
