/*
 * A 0 that nobody measured is never a count: each event of this CPU's table, by
 * name or by code, is one that the emulator models or is refused, and the
 * reason says which it is.
 *
 * What our emulators model is known here by emulator_models().
 */
#include <stdio.h>
#include <string.h>

#include "payloads/common/event_table.h"
#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(288); /* the tables, copied, and what malloc() keeps */

#define BOTH (CPC_COUNT_USER | CPC_COUNT_SYSTEM)

static unsigned counted, refused;

/* Does this run know what its emulator models?  On arm64 `run` says so. */
static bool
models_are_known(void)
{
#ifdef __aarch64__
	return emulated();
#else
	return emulator_lists();
#endif
}

static bool
says_why(void)
{
	static const char *const reasons[] = { "this emulator does not model ",
		" is absent", "not here" };

	for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (strstr(test_detail.text, reasons[i]) != NULL)
			return true;
	}
	return false;
}

/* It counts what the emulator models, or is refused and told why. */
static void
try_event(cpc_t *cpc, const char *name, uint_t nattrs, cpc_attr_t *attrs)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_reqinfo_t info;

	test_detail.text[0] = '\0';
	/* A name that no PIC of this machine takes is refused right here. */
	if (cpc_set_add_request(cpc, set, name, 0, BOTH, nattrs, attrs) != 0) {
		EXPECT_EQ(errno, EINVAL);
	} else if (cpc_bind_curlwp(cpc, set, 0) == 0) {
		counted++;
		EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
		if (!EXPECT(emulator_models(info.ri_code)))
			test_note("that was %s, %#llx", name,
			    (unsigned long long)info.ri_code);
	} else {
		refused++;
		EXPECT_EQ(errno, EINVAL);
		if (!EXPECT(says_why()))
			test_note("that was %s: %s", name, test_detail.text);
	}
	cpc_set_destroy(cpc, set);
}

/* CPC-BIND-09 */
CPC_TEST(a_name_of_the_table_is_modelled_or_refused)
{
	const char *cpu = names_cpu();
	struct event_walk ew = { 0 };
	struct events es;
	char name[256];

	if (!models_are_known())
		SKIP("no emulator that lists the events it models");
	if (cpu == NULL)
		SKIP("no table of this CPU's events");
	es = events_find(names_tables(), cpu);
	counted = refused = 0;
	while (events_next(&es, &ew, ~0ULL, name, sizeof name))
		try_event(cpc, name, 0, NULL);
	printf("# %u counted, %u refused\n", counted, refused);
	EXPECT(counted >= 2);
	EXPECT(refused >= 10);
}

/* The event is refused at the bind, with a reason that has this text. */
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
		test_note("that was %s: %s", name, test_detail.text);
	cpc_set_destroy(cpc, set);
}

#ifdef __aarch64__
/* Of the implementation, reserved, and common: PMCEID announces none of them.
 */
CPC_TEST(codes_that_are_not_announced_are_refused)
{
	const char *why = "this emulator does not model event ";

	if (!models_are_known())
		SKIP("no emulator that lists the events it models");
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

	if (!models_are_known())
		SKIP("no emulator that lists the events it models");
	is_refused(cpc, "0xc5", 0, NULL, why);
	is_refused(cpc, "0x2e", 1, &umask,
	    is_amd(cpc) ? "does not model event 0x412e"
			: "CPUID.0AH:EBX[4] says that event 0x412e is absent");
	is_refused(cpc, "0x51", 0, NULL, "does not model event 0x51");
	is_refused(cpc, "PAPI_br_msp", 0, NULL,
	    is_amd(cpc) ? "does not model event 0xc3" : why);
}

/* The counter mask is modelled with instructions, the edge bit never. */
CPC_TEST(attributes_that_are_not_modelled_are_refused)
{
	const char *why = "does not model bits 0x40000 of the event select";
	cpc_attr_t edge[] = { { "cmask", 1 }, { "edge", 1 } };
	cpc_set_t *set;

	if (!models_are_known())
		SKIP("no emulator that lists the events it models");
	is_refused(cpc, "0xc0", 2, edge, why);
	set = cpc_set_create(cpc);
	EXPECT_EQ(cpc_set_add_request(cpc, set, "0xc0", 0, BOTH, 1, edge), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	cpc_set_destroy(cpc, set);
}
#endif
