/* The command line: its quoting; each word is known or reported. */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "include/sys/cpc.h"
#include "kern/platform/command/cmdline.h"
#include "kern/platform/command/quiet_word.h"

static struct cmdline cl;
static char err[256];
static char *text;

static int
parse_line(const char *s)
{
	free(text);
	text = exact_copy(s, strlen(s) + 1);
	return cmdline_parse(text, &cl, err, sizeof err);
}

static void
release(void)
{
	free(cl.cl_env); /* the only allocation */
	free(text);
	text = NULL;
}

TEST(nothing)
{
	static const char *const lines[] = { "", "   ", "\t\n", "--", " -- " };

	for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_int_equal(parse_line(lines[i]), 0);
		assert_int_equal(cl.cl_argc, 0);
		assert_null(cl.cl_argv[0]);
		assert_int_equal(cl.cl_nenv, 0);
		assert_null(cl.cl_env[0]);
		release();
	}
}

TEST(kernel_words)
{
	assert_int_equal(parse_line("test_hooks=yes"), 0);
	assert_true(cl.cl_test_hooks);
	release();
	assert_int_equal(parse_line("test_hooks=no"), 0);
	assert_false(cl.cl_test_hooks);
	release();
	assert_int_equal(parse_line("test_hooks=1"), -1);
	assert_int_equal(
	    parse_line("output=framed priv=system timeout=30 cpus=2 "
		       "deadline=90 BOOT_IMAGE=/x initrd=initrd"),
	    0);
	assert_true(cl.cl_framed && cl.cl_system);
	assert_int_equal(cl.cl_timeout, 30);
	assert_int_equal(cl.cl_deadline, 90);
	assert_int_equal(cl.cl_cpus, 2);
	assert_false(cl.cl_nmi_panics);
	release();
	assert_int_equal(parse_line("nmi=panic"), 0);
	assert_true(cl.cl_nmi_panics);
	release();
	assert_int_equal(parse_line("models=any"), 0);
	assert_false(cl.cl_models_pmceid);
	assert_true(cl.cl_models_any);
	release();
	assert_int_equal(parse_line("models=pmceid"), 0);
	assert_true(cl.cl_models_pmceid);
	assert_false(cl.cl_models_any);
	assert_int_equal(cl.cl_nmodels, 0);
	release();
	assert_int_equal(
	    parse_line("models=pmceid models=0xc0:0xffff:0xff800000,"
		       "0x76:0xFFFF:0"),
	    0);
	assert_false(cl.cl_models_pmceid);
	assert_int_equal(cl.cl_nmodels, 2);
	assert_int_equal(cl.cl_models[0].ml_select, 0xc0);
	assert_int_equal(cl.cl_models[0].ml_match_mask, 0xffff);
	assert_int_equal(cl.cl_models[0].ml_modelled_mask, 0xff800000);
	assert_int_equal(cl.cl_models[1].ml_select, 0x76);
	assert_int_equal(cl.cl_models[1].ml_modelled_mask, 0);
	release();
	assert_int_equal(parse_line("models=0xc0:0xffff:0 models=any"), 0);
	assert_int_equal(cl.cl_nmodels, 0);
	release();
	assert_int_equal(parse_line("output=text priv=user"), 0);
	assert_false(cl.cl_framed || cl.cl_system);
	assert_int_equal(cl.cl_witness, 0);
	release();
	assert_int_equal(parse_line("witness=1"), 0);
	assert_int_equal(cl.cl_witness, CPC_COUNT_USER);
	release();
	assert_int_equal(parse_line("witness=system"), 0);
	assert_int_equal(cl.cl_witness, CPC_COUNT_SYSTEM);
	release();
	assert_int_equal(parse_line("witness=both"), 0);
	assert_int_equal(cl.cl_witness, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	release();
}

TEST(software_pmu)
{
	const struct soft_shape *ns = &cl.cl_soft;

	assert_int_equal(parse_line("priv=user"), 0);
	assert_null(cl.cl_pmu);
	release();
	assert_int_equal(parse_line("pmu=software"), 0);
	assert_string_equal(cl.cl_pmu, "software");
	assert_memory_equal(ns, &soft_shape_default, sizeof *ns);
	release();
	/* The former name. */
	assert_int_equal(parse_line("pcbe=null,pics=7"), 0);
	assert_non_null(cl.cl_pmu);
	assert_int_equal(ns->ns_pics, 7);
	release();
	assert_int_equal(
	    parse_line(
		"pmu=software,pics=32,width=16,ovf=imprecise,mute=0xffffffff,"
		"shared=siblings,papi=yes,raw=no,cycles=3,branches=0"),
	    0);
	assert_int_equal(ns->ns_pics, 32);
	assert_int_equal(ns->ns_width, 16);
	assert_int_equal(ns->ns_ovf, SOFT_OVF_IMPRECISE);
	assert_int_equal(ns->ns_mute, 0xffffffff);
	assert_int_equal(ns->ns_shared, SOFT_SHARED_SIBLINGS);
	assert_true(ns->ns_papi && !ns->ns_raw && ns->ns_hv);
	assert_int_equal(ns->ns_event[0], 0xffffffff);
	assert_int_equal(ns->ns_event[1], 3);
	assert_int_equal(ns->ns_event[2], 0);
	release();
}

TEST(host_facts)
{
	assert_int_equal(
	    parse_line("host.clock=virtual \"host.outer=a b\""), 0);
	assert_int_equal(cl.cl_nhost, 2);
	assert_string_equal(cl.cl_host[0], "clock=virtual");
	assert_string_equal(cl.cl_host[1], "outer=a b");
	release();
	assert_int_equal(parse_line("host.clock"), -1);
	assert_int_equal(parse_line("host.=x"), -1);
	assert_int_equal(parse_line("host.a=\\\"x"), -1);
	assert_int_equal(
	    parse_line("host.a=1 host.b=1 host.c=1 host.d=1 host.e=1 "
		       "host.f=1 host.g=1 host.h=1 host.i=1"),
	    -1);
}

TEST(environment)
{
	assert_int_equal(
	    parse_line("env.A=1 priv=user env.LONG_NAME=\"two words\" -- p x"),
	    0);
	assert_int_equal(cl.cl_nenv, 2);
	assert_string_equal(cl.cl_env[0], "A=1");
	assert_string_equal(cl.cl_env[1], "LONG_NAME=two words");
	assert_null(cl.cl_env[2]);
	assert_int_equal(cl.cl_argc, 2);
	assert_string_equal(cl.cl_argv[0], "p");
	assert_string_equal(cl.cl_argv[1], "x");
	assert_null(cl.cl_argv[2]);
	release();
	assert_int_equal(parse_line("env.A= -- p"), 0);
	assert_string_equal(cl.cl_env[0], "A=");
	assert_null(cl.cl_env[1]);
	release();
}

TEST(quoting)
{
	static const char *const want[] = { "a b", "", "\"", "x\\y", "a\"b",
		"c d", "$`", "--", "tail\\" };

	assert_int_equal(
	    parse_line("-- \"a b\" \"\" \\\" \"x\\y\" a\\\"b c\\ d "
		       "\"\\$\\`\" -- tail\\"),
	    0);
	assert_int_equal(cl.cl_argc, sizeof want / sizeof *want);
	for (unsigned i = 0; i < cl.cl_argc; i++)
		assert_string_equal(cl.cl_argv[i], want[i]);
	release();
}

/* Only a word | or & without quotes is an operator. */
TEST(operators)
{
	static const char *const want[] = { "a", "|", "|b", "&", "a&", "|", "&",
		"|", "&", "||" };
	unsigned n = 0;

	assert_int_equal(parse_line("-- a | |b & a& \"|\" \\& | \"&\" ||"), 0);
	assert_int_equal(cl.cl_argc, sizeof want / sizeof *want);
	for (unsigned i = 0; i < cl.cl_argc; i++)
		assert_string_equal(cl.cl_argv[i], want[i]);
	assert_ptr_equal(cl.cl_argv[1], word_pipe);
	assert_ptr_equal(cl.cl_argv[3], word_both);
	assert_ptr_equal(cl.cl_argv[7], word_pipe);
	for (unsigned i = 0; i < cl.cl_argc; i++)
		n += cl.cl_argv[i] == word_pipe || cl.cl_argv[i] == word_both;
	assert_int_equal(n, 3);
	release();
	assert_int_equal(parse_line("-- |"), 0);
	assert_int_equal(cl.cl_argc, 1);
	assert_ptr_equal(cl.cl_argv[0], word_pipe);
	release();
	assert_int_equal(parse_line("quiet & -- a"), 0);
	assert_string_equal(cl.cl_foreign, "quiet &");
	assert_int_equal(cl.cl_quiet, 0);
	release();
}

static void
expect_error(const char *line, const char *part)
{
	assert_int_equal(parse_line(line), -1);
	assert_non_null(strstr(err, part));
	assert_null(strchr(err, '\n'));
	free(text);
	text = NULL;
}

TEST(quiet_names_its_items)
{
	assert_int_equal(parse_line("quiet=all"), 0);
	assert_int_equal(cl.cl_quiet, (1 << QUIET_N) - 1);
	release();
	assert_int_equal(parse_line("quiet=none"), 0);
	assert_int_equal(cl.cl_quiet, QUIET_NONE);
	release();
	assert_int_equal(parse_line("quiet=smm,freq"), 0);
	assert_int_equal(cl.cl_quiet, 1 << QUIET_SMM | 1 << QUIET_FREQ);
	release();
	expect_error("quiet=", "not all, none, or some of freq,turbo");
	expect_error("quiet=freq,", "not all, none, or some of");
	expect_error("quiet=fre", "not all, none, or some of");
	expect_error("quiet=turbo,all", "not all, none, or some of");
}

/* A list of so many events. */
static void
expect_models(unsigned n, int result)
{
	char line[1024] = "models=";

	while (n-- > 0)
		strcat(line, n == 0 ? "0xc0:0xffff:0" : "0xc0:0xffff:0,");
	assert_int_equal(parse_line(line), result);
	if (result == 0)
		release();
}

TEST(errors)
{
	expect_error("timout=5", "`timout=5': unknown; did you mean "
				 "timeout=SECONDS?");
	expect_error("root=/dev/sda cpu=2", "`cpu=2': unknown; did you mean");
	expect_error("Priv=user", "did you mean priv=user|system?");
	expect_error("witness", "did you mean witness=user|system|both?");
	expect_error("output=vga", "`output=vga': not text or framed");
	expect_error("timeout=\"1\n2\"", "`timeout=1?2': not a number");
	expect_error("priv=root", "`priv=root': not user or system");
	expect_error("nmi=ignore", "`nmi=ignore': not count or panic");
	expect_error("models=all", "`models=all': not any, pmceid or SELECT:");
	expect_error("models=", "not any, pmceid or SELECT:");
	expect_error("models=0xc0", "not any, pmceid or SELECT:");
	expect_error("models=0xc0:0xffff", "not any, pmceid or SELECT:");
	expect_error("models=0xc0:0xffff:0,", "not any, pmceid or SELECT:");
	expect_error("models=0xc0:0xffff:0:1", "not any, pmceid or SELECT:");
	expect_error(
	    "models=0x1000000c0:0xffff:0", "not any, pmceid or SELECT:");
	expect_error("models=-1:0xffff:0", "not any, pmceid or SELECT:");
	expect_models(CPC_PMU_MODELS, 0);
	expect_models(CPC_PMU_MODELS + 1, -1);
	expect_error("cpc_cpu=maybe", "`cpc_cpu=maybe': not yes or no");
	expect_error("trace=all", "`trace=all': not stops");
	expect_error("keep=nothing", "not ram, nvram or no");
	expect_error("screen=off", "not pages or text");
	expect_error("then=stop", "not off, reboot or run");
	expect_error("timeout=", "not a number of seconds");
	expect_error("timeout=-1", "not a number of seconds");
	expect_error("timeout=1s", "not a number of seconds");
	expect_error("deadline=soon", "not a number of seconds");
	expect_error("timeout=99999999999999999999", "not a number");
	expect_error("cpus=0", "not a number of CPUs");
	expect_error("witness=0", "`witness=0': not 1, user, system or both");
	expect_error("pmu=", "`pmu=': not software[,KEY=VALUE]...");
	expect_error("pmu=softwares", "not software[,KEY=VALUE]...");
	expect_error(
	    "pmu=software,", "`pmu=software,': no such key; known: shape ");
	expect_error("pmu=software,pics", "known: shape ");
	expect_error("pmu=software,colour=red", "known: shape ");
	expect_error("pmu=software,pics=33", "pics= is a number from 1 to 32");
	expect_error("pmu=software,pics=-1", "pics= is a number from 1 to 32");
	expect_error(
	    "pmu=software,width=15", "width= is a number from 16 to 64");
	expect_error("pmu=software,width=32x", "width= is a number from 16");
	expect_error("pmu=software,ovf=preciser", "ovf= is none, imprecise or");
	expect_error("pmu=software,papi=", "papi= is yes or no");
	expect_error(
	    "pmu=software,mute=0x100000000", "mute= is a mask of PICs");
	expect_error("pmu=software,pics=2,fixed=2", "no general PIC is left");
	expect_error("pmu=software,shape=p5", "shape= is plain, p4 or ultra");
	expect_error(
	    "pmu=software,papi=yes,shape=p4", "shape= must be the first key");
	expect_error("env.=x", "not env.NAME=VALUE");
	expect_error("env.X", "not env.NAME=VALUE");
	expect_error("-- \"open", "a double quote is not closed");
}

/* Words for other systems are reported and have no other effect. */
TEST(foreign_words)
{
	static const char other[] =
	    "BOOT_IMAGE=/vmlinuz root=/dev/sdb3 ro quiet splash rw rootwait "
	    "console=ttyS2,1500000 init=/sbin/init nr_cpus=4 maxcpus=2 "
	    "initrd=\\\\a nomodeset loglevel=7 i915.modeset=1 nmi_watchdog=0";
	char long_line[600];

	assert_int_equal(parse_line(other), 0);
	assert_int_equal(cl.cl_argc, 0);
	assert_int_equal(cl.cl_nenv, 0);
	assert_false(cl.cl_framed);
	assert_non_null(strstr(cl.cl_foreign, "root=/dev/sdb3 ro quiet"));
	assert_non_null(strstr(cl.cl_foreign, "nmi_watchdog=0"));
	release();
	assert_int_equal(parse_line("console=framed \"a\nb\" -- p root=x"), 0);
	assert_true(cl.cl_framed);
	assert_string_equal(cl.cl_foreign, "a?b");
	assert_string_equal(cl.cl_argv[1], "root=x");
	release();
	memset(long_line, 'x', sizeof long_line);
	long_line[100] = long_line[300] = ' ';
	long_line[sizeof long_line - 1] = '\0';
	assert_int_equal(parse_line(long_line), 0);
	assert_int_equal(strlen(cl.cl_foreign), sizeof cl.cl_foreign - 1);
	assert_non_null(strstr(cl.cl_foreign, "x..."));
	release();
}

/* A word of any length is reported in one line that fits. */
TEST(long_word)
{
	char line[2000];

	memset(line, 'x', sizeof line - 1);
	memcpy(line, "timeout=", 8);
	line[sizeof line - 1] = '\0';
	expect_error(line, "...': not a number");
}

/* More than 4 KiB of words, one character each. */
TEST(many_words)
{
	char line[8192] = "-- ";

	for (size_t i = 3; i < sizeof line - 1; i++)
		line[i] = i % 2 ? 'a' : ' ';
	line[sizeof line - 1] = '\0';
	assert_int_equal(parse_line(line), 0);
	assert_int_equal(cl.cl_argc, (sizeof line - 3) / 2);
	for (unsigned i = 0; i < cl.cl_argc; i++)
		assert_string_equal(cl.cl_argv[i], "a");
	release();
}
