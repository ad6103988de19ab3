/* The main() of a program of kernels: which instances run. */
#include "payloads/bench/kernel.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

/* --filter, as Google Benchmark has it: a leading '-' means all others. */
struct filter {
	bool ft_others;
	regex_t ft_regex;
};

static void
filter_open(struct filter *ft, const char *text)
{
	char why[80];

	if (text == NULL || strcmp(text, "all") == 0)
		text = "";
	ft->ft_others = *text == '-';
	if (ft->ft_others)
		text++;
	/* An empty expression is undefined by POSIX. */
	int err = regcomp(&ft->ft_regex, *text == '\0' ? "^" : text,
	    REG_EXTENDED | REG_NOSUB);
	if (err != 0) {
		regerror(err, &ft->ft_regex, why, sizeof why);
		usage_mistake("--filter: %s: %s", text, why);
	}
}

static bool
filter_takes(const struct filter *ft, const char *label)
{
	return (regexec(&ft->ft_regex, label, 0, NULL, 0) == 0) !=
	       ft->ft_others;
}

/* The chosen instances of one kernel. */
struct chosen {
	const struct options *bch_o;
	const struct filter *bch_filter;
	struct meter *bch_meter; /* NULL: print their names only */
	bool bch_counting;       /* only count them */
	unsigned bch_n;
	bool bch_right;
};

static void
run_instance(struct chosen *cn, const struct bench_kernel *k,
    const struct bench_args *args)
{
	char label[LABEL_SIZE];

	if (!filter_takes(cn->bch_filter, bench_label(label, k, args)))
		return;
	cn->bch_n++;
	if (cn->bch_counting)
		return;
	if (cn->bch_meter == NULL)
		puts(label);
	else if (!bench_measure(cn->bch_o, cn->bch_meter, k, args))
		cn->bch_right = false;
}

static void
run_kernel(struct chosen *cn, const struct bench_kernel *k)
{
	static const struct bench_args none;

	if (k->bk_nargs == 0)
		run_instance(cn, k, &none);
	for (unsigned i = 0; i < k->bk_nargs; i++)
		run_instance(cn, k, &k->bk_args[i]);
}

static void
run_kernels(struct chosen *cn, struct bench_kernel *first, bool one)
{
	cn->bch_n = 0;
	for (struct bench_kernel *k = first; k != NULL;
	     k = one ? NULL : k->bk_next)
		run_kernel(cn, k);
}

/* The arguments of the usage line: those of the first kernel that has any. */
static const char *
usage_arguments(char *buf, size_t size, const struct bench_kernel *k, bool one)
{
	size_t n = 0;

	while (k != NULL && k->bk_limits[0].bl_what == NULL)
		k = one ? NULL : k->bk_next;
	buf[0] = '\0';
	for (unsigned i = 0; k != NULL && i < MAXARGS && n < size; i++) {
		if (k->bk_limits[i].bl_what == NULL)
			break;
		n += (size_t)snprintf(buf + n, size - n, "%s%s",
		    i == 0 ? "[" : "/", k->bk_limits[i].bl_what);
	}
	if (n != 0 && n < size)
		snprintf(buf + n, size - n, "...]");
	return buf;
}

/* Run the kernel, and with !one those after it. */
static int
run_all(struct bench_kernel *first, bool one, int argc, char **argv)
{
	struct options o;
	struct filter filter;
	struct meter m;
	struct chosen cn = { .bch_o = &o, .bch_filter = &filter };
	struct bench_kernel *k;
	char arguments[160];

	options_parse(&o, argc, argv,
	    usage_arguments(arguments, sizeof arguments, first, one),
	    "PAPI_tot_ins,PAPI_tot_cyc", true);
	filter_open(&filter, o.o_filter);
	if (first == NULL)
		fail(2, "no kernel: define one by BENCH()");
	if (optind < argc && arguments[0] == '\0')
		usage_mistake("%s: takes no argument", argv[optind]);
	for (k = first; k != NULL && optind < argc; k = one ? NULL : k->bk_next)
		if (k->bk_limits[0].bl_what != NULL)
			bench_replace_args(k, &argv[optind]);
	if (!o.o_list) {
		meter_open(&m);
		cn.bch_meter = &m;
		cn.bch_counting = true;
		run_kernels(&cn, first, one);
		cn.bch_counting = false;
		bench_expect(&o, cn.bch_n);
		if (json_expect((uint64_t)cn.bch_n * o.o_nevent))
			return 0;
	}
	cn.bch_right = true;
	run_kernels(&cn, first, one);
	regfree(&filter.ft_regex);
	report_last_lines();
	if (cn.bch_n == 0)
		fail(2, "--filter: %s: matches no kernel: --list prints them",
		    o.o_filter);
	if (cn.bch_meter == NULL)
		return 0;
	int status = report_status(&m, cn.bch_right);
	meter_close(&m);
	return status;
}

int
bench_main(int argc, char **argv)
{
	return run_all(bench_first(), false, argc, argv);
}

int
bench_main_of(struct bench_kernel *k, int argc, char **argv)
{
	return run_all(k, true, argc, argv);
}
