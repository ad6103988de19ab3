/*
 * An event that the emulator does not model is refused, instead of a count of
 * 0.  This holds for each event of this CPU's table, by name or by code.  The
 * error's text says why.
 *
 * emulator_models() lists the events that our emulators model.
 */
#include <stdio.h>
#include <string.h>

#include "payloads/common/target.h"
#include "tests/lib/image/cpc_test.h"

TEST_TWICE(); /* copies of the tables, and malloc()'s own pages, stay */

#define BOTH (CPC_COUNT_USER | CPC_COUNT_SYSTEM)

static unsigned counted_events, refused_events;

static bool
says_why(void)
{
	static const char *const reasons[] = { "this emulator does not model ",
		" is absent", "this CPU lacks " };

	for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (strstr(test_detail.text, reasons[i]) != NULL)
			return true;
	}
	return false;
}

/* The event is bound and modelled, or it is refused with a reason. */
static void
try_event(cpc_t *cpc, const char *name, uint_t nattrs, cpc_attr_t *attrs)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_reqinfo_t info;

	test_detail.text[0] = '\0';
	/* A name that no PIC of this machine takes is refused here already. */
	if (cpc_set_add_request(cpc, set, name, 0, BOTH, nattrs, attrs) != 0) {
		EXPECT_EQ(errno, EINVAL);
	} else if (cpc_bind_curlwp(cpc, set, 0) == 0) {
		counted_events++;
		EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
		if (!EXPECT(emulator_models(info.ri_code)))
			test_note("event: %s, code %#llx", name,
			    (unsigned long long)info.ri_code);
	} else {
		refused_events++;
		EXPECT_EQ(errno, EINVAL);
		if (!EXPECT(says_why()))
			test_note("event: %s: %s", name, test_detail.text);
	}
	cpc_set_destroy(cpc, set);
}

/* CPC-BIND-09.  On CPUs of several types: the table of type 0. */
CPC_TEST(a_name_of_the_table_is_modelled_or_refused)
{
	const char *cpu = target_cpu();
	cpc_attr_t core_type = { (char *)"core_type", 0 };
	uint_t nattrs = cpc_core_type(cpc, 0) != NULL;
	struct event_walk ew = { 0 };
	char name[256];

	if (!emulator_lists())
		SKIP("this machine does not list the events that it models");
	if (cpu == NULL)
		SKIP("there is no table of this CPU's events");
	struct events es = events_find(target_tables(), cpu);
	counted_events = refused_events = 0;
	while (events_next(&es, &ew, ~0ULL, name, sizeof name))
		try_event(cpc, name, nattrs, &core_type);
	printf("# %u counted, %u refused\n", counted_events, refused_events);
	EXPECT(counted_events >= 2);
	EXPECT(refused_events >= 10);
}

/* The bind refuses the event with a reason that contains `why`. */
static void
is_refused(cpc_t *cpc, const char *name, uint_t nattrs, cpc_attr_t *attrs,
    const char *why)
{
	cpc_set_t *set = cpc_set_create(cpc);

	test_detail.text[0] = '\0';
	EXPECT_EQ(
	    cpc_set_add_request(cpc, set, name, 0, BOTH, nattrs, attrs), 0);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	if (!EXPECT(strstr(test_detail.text, why) != NULL))
		test_note("event: %s: %s", name, test_detail.text);
	cpc_set_destroy(cpc, set);
}

#ifdef __aarch64__
/* STALL events, announced by QEMU but 0, are refused in each form. */
CPC_TEST(announced_events_that_never_count_are_refused)
{
	static const char *const names[] = { "stall", "stall_frontend",
		"stall_backend", "PAPI_res_stl" };
	const char *why = "this emulator does not model event ";
	cpc_set_t *set = cpc_set_create(cpc);

	if (!emulator_lists())
		SKIP("this machine does not list the events that it models");
	is_refused(cpc, "0x23", 0, NULL, why);
	is_refused(cpc, "0x24", 0, NULL, why);
	is_refused(cpc, "0x3c", 0, NULL, why);
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		EXPECT_ERRNO(
		    cpc_set_add_request(cpc, set, names[i], 0, BOTH, 0, NULL),
		    EINVAL);
	cpc_set_destroy(cpc, set);
}

/* Codes of each kind, none of which PMCEID announces. */
CPC_TEST(codes_that_are_not_announced_are_refused)
{
	const char *why = "this emulator does not model event ";

	if (!emulator_lists())
		SKIP("this machine does not list the events that it models");
	is_refused(cpc, "0x40", 0, NULL, why);
	is_refused(cpc, "0xe7", 0, NULL, why);
	is_refused(cpc, "0x3ff", 0, NULL, why);
	is_refused(cpc, "r4c", 0, NULL, why);
	is_refused(cpc, "0x10", 0, NULL, why);
	is_refused(cpc, "armv8_pmuv3/event=0x4c/", 0, NULL, why);
}
#else
static bool
is_amd(cpc_t *cpc)
{
	return strncmp(cpc_cciname(cpc), "AMD", 3) == 0;
}

CPC_TEST(codes_and_presets_are_refused)
{
	const char *why = is_amd(cpc) ? "this emulator does not model event"
	                              : "CPUID.0AH:EBX[6] says that event 0xc5 "
	                                "is absent";
	cpc_attr_t umask = { "umask", 0x41 };

	if (!emulator_lists())
		SKIP("this machine does not list the events that it models");
	is_refused(cpc, "0xc5", 0, NULL, why);
	is_refused(cpc, "0x2e", 1, &umask,
	    is_amd(cpc) ? "does not model event 0x412e"
			: "CPUID.0AH:EBX[4] says that event 0x412e is absent");
	is_refused(cpc, "0x51", 0, NULL, "does not model event 0x51");
	is_refused(cpc, "PAPI_br_msp", 0, NULL,
	    is_amd(cpc) ? "does not model event 0xc3" : why);
}

/* The emulator models edge, but not for reference cycles. */
CPC_TEST(attributes_that_are_not_modelled_are_refused)
{
	cpc_attr_t edge[] = { { "umask", 1 }, { "edge", 1 } };

	if (!emulator_lists())
		SKIP("this machine does not list the events that it models");
	if (is_amd(cpc))
		is_refused(cpc, "0xc0", 1, edge,
		    "does not model bits 0x100 of the event select");
	else
		is_refused(cpc, "0x3c", 2, edge,
		    "does not model bits 0x40000 of the event select");
	cpc_set_t *set = cpc_set_create(cpc);
	EXPECT_EQ(
	    cpc_set_add_request(cpc, set, "0xc0", 0, BOTH, 1, &edge[1]), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	cpc_set_destroy(cpc, set);
}
#endif
