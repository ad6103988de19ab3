/* Version 1: facts of the machine, and specifications of events as text. */
#include "tests/lib/image/v1_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pages of the event tables, which are loaded once, and of the heap. */
TEST_KEEPS(64);

/* CPC-V1-01 */
TEST(versions_are_negotiated)
{
	EXPECT_EQ(cpc_version(CPC_VER_NONE), CPC_VER_CURRENT);
	EXPECT_EQ(cpc_version(CPC_VER_1), CPC_VER_1);
	EXPECT_EQ(cpc_version(CPC_VER_CURRENT), CPC_VER_CURRENT);
	EXPECT_EQ(cpc_version(3), CPC_VER_NONE);
}

/* The facts of the machine are those of version 2. */
CPC_TEST(the_machine_has_names)
{
	int ver = cpc_getcpuver();

	NEEDS_V1();
	EXPECT(strcmp(cpc_getcciname(ver), cpc_cciname(cpc)) == 0);
	EXPECT(strcmp(cpc_getcpuref(ver), cpc_cpuref(cpc)) == 0);
	EXPECT(strstr(cpc_getusage(ver), "pic0=") != NULL);
	EXPECT_EQ(cpc_getnpic(ver), 2);
	EXPECT(strcmp(cpc_getcciname(CPC_PENTIUM_PRO_MMX),
		   "Pentium Pro with MMX, Pentium II") == 0);
	EXPECT(cpc_getcciname(17) == NULL);
	EXPECT(cpc_getcpuref(17) == NULL);
	EXPECT(cpc_getusage(17) == NULL);
	EXPECT_EQ(cpc_getnpic(17), 0);
}

/* CPC-V1-12: the half without a CPU binding. */
CPC_TEST(access_says_whether_there_is_a_pmu)
{
	v1_listen();
	EXPECT_EQ(cpc_access(), 0);
	EXPECT_EQ(v1_report.calls, 0);
}

/* Names */

struct walk {
	int ver, n, printed, wrong, again;
};

/* Each name is an event: both counters' words name it, and print it again. */
static void
check_name(void *arg, int regno, const char *name, uint8_t bits)
{
	char spec[CPC_MAX_EVENT_LEN + 64];
	struct walk *w = arg;
	cpc_event_t event, same;

	w->n++;
	/* A print is a walk over all names: for names 1, 2, 4, 8 and so on. */
	if ((w->n & (w->n - 1)) != 0)
		return;
	w->printed++;
	snprintf(spec, sizeof spec, "pic%d=%s,pic%d=" INS_EVENT, regno, name,
	    1 - regno);
	w->wrong += cpc_strtoevent(w->ver, spec, &event) != 0 ||
	            (uint8_t)event.ce_pes[regno] != bits;
	char *text = cpc_eventtostr(&event);
	w->again += text != NULL && cpc_strtoevent(w->ver, text, &same) == 0 &&
	            memcmp(&event, &same, sizeof event) == 0;
	free(text);
}

/* CPC-V1-03 */
V1_TEST(every_name_is_an_event)
{
	struct walk w = { .ver = cpc_getcpuver() };

	cpc_walk_names(w.ver, 0, &w, check_name);
	EXPECT(w.n > 0);
	EXPECT_EQ(w.wrong, 0);
	EXPECT_EQ(w.again, w.printed);
}

V1_TEST(no_name_of_another_register_or_cpu)
{
	struct walk w = { .ver = cpc_getcpuver() };

	cpc_walk_names(w.ver, 2, &w, check_name);
	cpc_walk_names(w.ver, -1, &w, check_name);
	cpc_walk_names(w.ver + 1, 0, &w, check_name);
	EXPECT_EQ(w.n, 0);
}

/* Specifications */

/* CPC-V1-02: what cpc_strtoevent() refuses is reported once, by this text. */
static void
expect_error(const char *spec, const char *text)
{
	cpc_event_t event;

	v1_listen();
	EXPECT_EQ(cpc_strtoevent(cpc_getcpuver(), spec, &event), 1);
	EXPECT_EQ(v1_report.calls, 1);
	EXPECT(strcmp(v1_report.fn, "strtoevent") == 0);
	if (!EXPECT(strcmp(v1_report.text, text) == 0))
		test_note("%s: %s", spec, v1_report.text);
}

#define TWO "pic0=" INS_EVENT ",pic1=" INS_EVENT

/* CPC-V1-02 */
V1_TEST(errors_are_counted_and_reported)
{
	cpc_event_t event;

	expect_error("pic0=" INS_EVENT, "two events must be specified\n");
	expect_error(TWO ",foo=1", "bad token 'foo'\n");
	expect_error(TWO ",foo", "bad token 'foo'\n");
	expect_error(TWO ",pic0=" INS_EVENT, "repeated 'pic0' token\n");
	expect_error(TWO ",pic1=", "repeated 'pic1' token\n");
	expect_error(TWO ",sys,sys1", "repeated 'sys1' token\n");
	expect_error(TWO ",nouser=1", "bad arg to 'nouser'\n");
	expect_error("pic0=" INS_EVENT ",pic1=nothing_like_it",
	    "PerfCtr1 cannot measure 'nothing_like_it' on this cpu\n");
	v1_listen();
	EXPECT_EQ(cpc_strtoevent(cpc_getcpuver(), "pic0=", &event), 2);
	EXPECT_EQ(v1_report.calls, 2);
	EXPECT_EQ(cpc_strtoevent(17, TWO, &event), 1);
	cpc_seterrfn(NULL);
}

/* Words without labels are the events; sys and nouser act as they say. */
V1_TEST(bare_events_and_levels)
{
	int ver = cpc_getcpuver();
	cpc_event_t a, b;

	EXPECT_EQ(cpc_strtoevent(ver, TWO, &a), 0);
	EXPECT_EQ(cpc_strtoevent(ver, INS_EVENT "," INS_EVENT, &b), 0);
	EXPECT(memcmp(&a, &b, sizeof a) == 0);
	EXPECT_EQ(a.ce_pes[0] >> 16 & 3, 1);
	EXPECT_EQ(cpc_strtoevent(ver, "pic1=" INS_EVENT "," INS_EVENT, &b), 0);
	EXPECT(memcmp(&a, &b, sizeof a) == 0);
	EXPECT_EQ(cpc_strtoevent(ver, TWO ",sys,nouser1", &b), 0);
	EXPECT_EQ(b.ce_pes[0] >> 16 & 3, 3);
	EXPECT_EQ(b.ce_pes[1] >> 16 & 3, 2);
	EXPECT(b.ce_pic[0] == 0 && b.ce_pic[1] == 0 && b.ce_hrt == 0);
	EXPECT_EQ(b.ce_cpuver, ver);
}

/* CPC-V1-03 */
V1_TEST(text_and_event_are_the_same)
{
	static const char *const specs[] = { TWO, TWO ",sys", TWO ",nouser0",
		TWO ",nouser,sys1" };
	int ver = cpc_getcpuver();

	for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
		cpc_event_t event, same;
		char *text;

		EXPECT_EQ(cpc_strtoevent(ver, specs[i], &event), 0);
		REQUIRE((text = cpc_eventtostr(&event)) != NULL);
		EXPECT_EQ(cpc_strtoevent(ver, text, &same), 0);
		EXPECT(memcmp(&event, &same, sizeof event) == 0);
		free(text);
	}
	EXPECT(cpc_eventtostr(NULL) == NULL);
}

/* Arithmetic */

/* CPC-V1-05 */
TEST(accum_adds_and_keeps_the_later_time)
{
	cpc_event_t sum = { .ce_cpuver = 1,
		.ce_hrt = 5,
		.ce_tsc = 10,
		.ce_pic = { 1, UINT64_MAX },
		.ce_pes = { 7, 8 } };
	cpc_event_t event = { .ce_cpuver = 2,
		.ce_hrt = 9,
		.ce_tsc = 20,
		.ce_pic = { 2, 2 },
		.ce_pes = { 3, 4 } };

	cpc_event_accum(&sum, &event);
	EXPECT_EQ(sum.ce_hrt, 9);
	EXPECT_EQ(sum.ce_tsc, 30);
	EXPECT_EQ(sum.ce_pic[0], 3);
	EXPECT_EQ(sum.ce_pic[1], 1);
	EXPECT_EQ(sum.ce_cpuver, 1);
	EXPECT_EQ(sum.ce_cesr, 7);
	event.ce_hrt = 1;
	cpc_event_accum(&sum, &event);
	EXPECT_EQ(sum.ce_hrt, 9);
	cpc_event_accum(&sum, &sum);
	EXPECT_EQ(sum.ce_pic[0], 10);
}

/* CPC-V1-04: any of the three may be the same event. */
TEST(diff_subtracts_and_keeps_lefts_time)
{
	cpc_event_t a = { .ce_cpuver = 1,
		.ce_hrt = 5,
		.ce_tsc = 30,
		.ce_pic = { 3, 1 },
		.ce_pes = { 7, 8 } };
	cpc_event_t b = { .ce_cpuver = 2,
		.ce_hrt = 9,
		.ce_tsc = 10,
		.ce_pic = { 1, 2 },
		.ce_pes = { 3, 4 } };
	cpc_event_t diff;

	cpc_event_diff(&diff, &a, &b);
	EXPECT_EQ(diff.ce_hrt, 5);
	EXPECT_EQ(diff.ce_tsc, 20);
	EXPECT_EQ(diff.ce_pic[0], 2);
	EXPECT_EQ(diff.ce_pic[1], UINT64_MAX);
	EXPECT_EQ(diff.ce_cpuver, 1);
	EXPECT_EQ(diff.ce_pes[1], 8);
	cpc_event_diff(&b, &a, &b);
	EXPECT_EQ(b.ce_pic[0], 2);
	EXPECT_EQ(b.ce_hrt, 5);
	cpc_event_diff(&a, &a, &a);
	EXPECT_EQ(a.ce_pic[0] | a.ce_pic[1] | a.ce_tsc, 0);
}
