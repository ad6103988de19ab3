/*
 * The explorer.  It tries every interleaving of the steps of a few LWPs, to a
 * bounded depth, and compares each with a model.  It also repeats schedules
 * that failed in the past.
 *
 *     explore    as a test
 *     explore [--shape WORD] [--start SCHEDULE] [--depth N] [--break FAULT]
 *     explore [--shape WORD] [--break FAULT] --replay SCHEDULE
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/host/kern/cpc/explore/explore.h"

/* The schedule decides when the interrupt comes, because the skid is long. */
#define LATE      ",skid=1000"
#define SHAPE_NMI "software,pics=3,width=16,nmi=yes" LATE
static const char *const shapes[] = {
	"software,pics=3,width=16" LATE,
	"software,pics=3,width=16,ovf=imprecise" LATE,
	"software,pics=3,width=16,mute=0x2,helpers=yes" LATE,
	"software,pics=3,width=16,ovf=none",
	"software,pics=3,width=64" LATE,
	SHAPE_NMI,
};
#define NSHAPES (sizeof shapes / sizeof shapes[0])

static const char *const starts[] = {
	"",
	"0:bind2 0:work 1:bind1",
	"0:bind1 0:work 0:work 0:work", /* and its PIC has wrapped */
	"0:bind2 0:clone 0:work",
	"0:bind1 0:work 0:rest 1:bind2 1:work",
	"0:bind2 0:work 0:read 0:read",
	/* all but the tick is read */
	"0:bind2 0:work 0:read 0:read 0:read 0:read",
	"0:bind2 0:cpu1 0:work",
	"0:cpu1 1:cpu2",
	"0:cpu1 0:free 0:rest 1:run1",
	"0:bind2 0:work 0:fork 0:run3 0:bind1",
	"0:own1 0:work 0:clone 1:bind1",
};
#define NSTARTS (sizeof starts / sizeof starts[0])
#define DEPTH   3 /* steps after a start; one more with the first shape */

/*
 * Each schedule boots a world, and frees it.  AddressSanitizer keeps 256 MB of
 * freed memory.  So each world would have fresh pages, a sixth of the time.
 * 1 MB holds what several worlds freed.
 */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "quarantine_size_mb=1";
}

/* Print the failure and the command that repeats it. */
static void
print_failure(const struct ex_search *x)
{
	printf("# %s\n# explore --shape %s%s%s --replay '%s'\n", x->exh_wrong,
	    x->exh_shape, x->exh_fault != EX_SOUND ? " --break " : "",
	    x->exh_fault != EX_SOUND ? ex_faults[x->exh_fault] : "",
	    x->exh_schedule);
}

static void
all_interleavings(void **state)
{
	uint64_t states = 0, steps = 0;

	(void)state;
	for (unsigned i = 0; i < NSHAPES; i++) {
		for (unsigned j = 0; j < NSTARTS; j++) {
			struct ex_search x = { .exh_shape = shapes[i],
				.exh_start = starts[j],
				.exh_depth = i == 0 ? DEPTH + 1 : DEPTH };

			if (!ex_search(&x)) {
				print_failure(&x);
				fail_msg("%s", x.exh_wrong);
			}
			states += x.exh_states;
			steps += x.exh_steps;
		}
	}
	printf("# %lu states, %lu steps\n", (unsigned long)states,
	    (unsigned long)steps);
}

/* Failures that the explorer has found in the kernel. */
static const struct {
	const char *shape;
	const char *schedule;
} found[] = {
	/* CPU 0's PICs continued to count for a set that was unbound. */
	{ "software,pics=3,width=16" LATE, "0:bind1 1:revoke1 0:work 0:bind2" },
};

static void
old_failures_stay_repaired(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof found / sizeof found[0]; i++) {
		struct ex_search x = { .exh_shape = found[i].shape };

		if (!ex_replay(&x, found[i].schedule)) {
			print_failure(&x);
			fail_msg("%s", x.exh_wrong);
		}
	}
}

/* A faulty kernel's failing schedule repeats; the correct kernel passes it. */
static void
faults_are_found(void **state)
{
	(void)state;
	for (unsigned fault = EX_SOUND + 1; fault < EX_NFAULT; fault++) {
		struct ex_search x = {
			.exh_shape = fault == EX_NO_NMI ? SHAPE_NMI : shapes[0],
			.exh_start = fault == EX_NO_SEQUENCE
			                 ? "0:bind2 0:read"
			                 : "0:bind2 0:work 1:bind1",
			.exh_depth = fault == EX_NO_SEQUENCE ? 6 : 3,
			.exh_fault = fault
		};
		char schedule[sizeof x.exh_schedule];

		assert_false(ex_search(&x));
		assert_string_not_equal(x.exh_schedule, "");
		strcpy(schedule, x.exh_schedule);
		assert_false(ex_replay(&x, schedule));
		assert_string_equal(x.exh_schedule, schedule);
		x.exh_fault = EX_SOUND;
		assert_true(ex_replay(&x, schedule));
	}
}

static int
usage(void)
{
	fprintf(stderr,
	    "explore: [--shape WORD] [--start SCHEDULE] [--depth N] "
	    "[--break FAULT] [--replay SCHEDULE]\n");
	return 2;
}

static int
command(int argc, char **argv)
{
	struct ex_search x = {
		.exh_shape = shapes[0], .exh_start = "", .exh_depth = 5
	};
	const char *replay = NULL;

	if (argc % 2 == 0)
		return usage();
	for (int i = 1; i < argc; i += 2) {
		const char *v = argv[i + 1];

		if (strcmp(argv[i], "--shape") == 0)
			x.exh_shape = v;
		else if (strcmp(argv[i], "--start") == 0)
			x.exh_start = v;
		else if (strcmp(argv[i], "--depth") == 0)
			x.exh_depth = (unsigned)strtoul(v, NULL, 10);
		else if (strcmp(argv[i], "--replay") == 0)
			replay = v;
		else if (strcmp(argv[i], "--break") != 0)
			return usage();
		else {
			while (strcmp(v, ex_faults[x.exh_fault]) != 0) {
				if (++x.exh_fault == EX_NFAULT)
					return usage();
			}
		}
	}
	if (x.exh_depth == 0 || x.exh_depth > 20)
		return usage();
	bool good = replay != NULL ? ex_replay(&x, replay) : ex_search(&x);
	printf("# %lu states, %lu steps\n", (unsigned long)x.exh_states,
	    (unsigned long)x.exh_steps);
	if (!good)
		print_failure(&x);
	return good ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_failures_stay_repaired),
		cmocka_unit_test(all_interleavings),
		cmocka_unit_test(faults_are_found),
	};

	if (argc > 1)
		return command(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
