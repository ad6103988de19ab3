/* How the library resolves a name on any machine, and why not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/machine.h"
#include "events/names/find.h"
#include "tests/lib/host/test.h"

static const struct machine_kind *const kinds[] = { &machine_intel,
	&machine_amd, &machine_arm, &machine_soft };

static const char *
own_name(const struct machine_kind *mk, unsigned n)
{
	return *(
	    const char *const *)((const char *)mk->mk_first + n * mk->mk_bytes);
}

/* The library finds them by binary search. */
TEST(own_names_are_sorted)
{
	for (unsigned k = 0; k < 4; k++) {
		for (unsigned n = 1; n < kinds[k]->mk_n; n++)
			assert_true(strcmp(own_name(kinds[k], n - 1),
					own_name(kinds[k], n)) < 0);
	}
}

/* Two names of Arm have different codes, but presets.  None is CHAIN. */
TEST(arms_events_are_different)
{
	const struct cpc_pmu pm = { .pm_general = 1,
		.pm_events = { ~0ULL, ~0ULL } };
	struct cpc_event a, b;

	for (unsigned i = 0; i < machine_arm.mk_n; i++) {
		assert_int_equal(machine_arm.mk_own(&pm, i, &a), 1);
		assert_int_not_equal(a.ce_code, 0x1e);
		assert_int_equal((a.ce_flags & CPC_EVENT_GENERIC) != 0,
		    strncmp(own_name(&machine_arm, i), "PAPI_", 5) == 0);
		for (unsigned k = 0; k < i && a.ce_flags == 0; k++) {
			machine_arm.mk_own(&pm, k, &b);
			if (b.ce_flags == 0)
				assert_int_not_equal(a.ce_code, b.ce_code);
		}
	}
}

/* Arm's common events have the manual's names, if PMCEID says they exist. */
TEST(arms_names_may_be_in_capitals)
{
	struct machine mc = { .mc_loaded = true };
	struct cpc_event ce;

	mc.mc_pmu = (struct cpc_pmu){ .pm_kind = CPC_PMU_ARM,
		.pm_pics = 0x3f,
		.pm_general = 0x3f,
		.pm_events = { 1ULL << 0x03 | 1ULL << 0x11 } };
	assert_true(machine_name(&mc, "l1d_cache_refill", &ce));
	assert_int_equal(ce.ce_code, 0x03);
	assert_true(machine_name(&mc, "L1D_CACHE_REFILL", &ce));
	assert_int_equal(ce.ce_code, 0x03);
	assert_true(machine_name(&mc, "CPU_CYCLES", &ce));
	assert_int_equal(ce.ce_code, 0x11);
	assert_false(machine_name(&mc, "L1D_cache_refill", &ce));
	assert_false(machine_name(&mc, "L2D_CACHE_REFILL", &ce));
	assert_false(machine_name(&mc, "PAPI_TOT_CYC", &ce));
	/* Intel's names are in small letters alone. */
	mc.mc_pmu.pm_kind = CPC_PMU_INTEL;
	mc.mc_pmu.pm_events[0] = 0x7f;
	assert_true(machine_name(&mc, "inst_retired.any_p", &ce));
	assert_false(machine_name(&mc, "INST_RETIRED.ANY_P", &ce));
	/* perf writes the PMU before a name. */
	assert_true(machine_name(&mc, "cpu/inst_retired.any_p/u", &ce));
	assert_int_equal(ce.ce_code, 0xc0);
	assert_false(machine_name(&mc, "cpu_core/inst_retired.any_p/", &ce));
}

/* A Skylake with four general PICs and the first three fixed ones. */
static struct machine
skylake(void)
{
	struct machine mc = { .mc_loaded = true };

	mc.mc_pmu = (struct cpc_pmu){ .pm_kind = CPC_PMU_INTEL,
		.pm_pics = 0x7f,
		.pm_general = 0xf,
		.pm_own = { 0x10, 0x20, 0x40 },
		.pm_family = 6,
		.pm_model = 94,
		.pm_cache = 3,
		.pm_events = { 0x7f } };
	return mc;
}

/* Bits 47:40 make another event: CPUID.0AH:EBX does not decide about it. */
TEST(a_second_unit_mask_is_another_event)
{
	struct machine mc = skylake();
	struct event_code ec = { .ec_select = 1ULL << 40 | 0xc4,
		.ec_pics = 0xf };
	struct cpc_event ce = { 0 };

	mc.mc_pmu.pm_absent = 1 << INTEL_BRANCHES;
	assert_int_equal(machine_intel.mk_tabled(&mc.mc_pmu, &ec, &ce), 0xf);
	assert_int_equal(ce.ce_flags & CPC_EVENT_LACKING, 0);
	ec.ec_select = 0xc4;
	assert_int_equal(machine_intel.mk_tabled(&mc.mc_pmu, &ec, &ce), 0xf);
	assert_int_equal(ce.ce_flags & CPC_EVENT_LACKING, CPC_EVENT_LACKING);
}

static void
expect_why(const struct machine *mc, const char *name, const char *want)
{
	struct cpc_event ce;
	char why[CPC_MAX_EVENT_LEN];

	assert_false(machine_name(mc, name, &ce));
	machine_why(mc, name, why, sizeof why);
	assert_string_equal(why, want);
}

/* The names that work without a table. */
static void
expect_no_table(struct machine *mc, const char *why)
{
	char padded[16 + EVENT_WORD] = "0xc0";
	struct cpc_event ce;

	assert_string_equal(mc->mc_why, why);
	assert_true(machine_name(mc, "inst_retired.any_p", &ce));
	assert_int_equal(ce.ce_code, 0xc0);
	assert_true(machine_name(mc, "PAPI_tot_cyc", &ce));
	assert_int_equal(ce.ce_pics, 0x2f);
	assert_int_equal(ce.ce_flags, CPC_EVENT_GENERIC);
	assert_true(machine_name(mc, "r1c2", &ce));
	assert_int_equal(ce.ce_code, 0x1c2);
	assert_true(machine_event(mc, padded, true, 0xc0, &ce));
	assert_int_equal(ce.ce_flags, CPC_EVENT_RAW);
	expect_why(mc, "L1D:REPLACEMENT", why);
	expect_why(mc, "PAPI_l1_dcm", why);
	expect_why(
	    mc, "inst_retired.any_q", "did you mean inst_retired.any_p?");
}

static char table_folder[] = "/tmp/barecpc-events-XXXXXX";

/* Faults of a file whose sum holds. */
enum crafted {
	ROWS = 1,  /* all PMUs have rows that the file lacks */
	PICS,      /* or more PICs than a set of them has */
	PMU_NAME,  /* a name without an end */
	NAMES_END, /* names up to the end of the file */
	EXTRA,     /* unit masks need an extra MSR that does not exist */
	MIXED,     /* two of them refer to a value that does not exist */
};

static void *
section_of(struct event_file *ef, enum event_section s)
{
	return (char *)ef + ef->evf_section[s].evf_at;
}

static void
craft_pmus(struct event_file *ef, enum crafted wrong)
{
	struct event_pmu *ep = section_of(ef, SECTION_PMUS);
	size_t n = ef->evf_section[SECTION_PMUS].evf_section_bytes / sizeof *ep;

	for (; n > 0; n--, ep++) {
		if (wrong == ROWS)
			ep->ep_nrow = 0xffff;
		else if (wrong == PICS)
			ep->ep_nfixed = 40;
		else
			memset(ep->ep_name, 'x', sizeof ep->ep_name);
	}
}

/* The bits of both values of um_extra together are beyond the section. */
static void
craft_masks(struct event_file *ef, enum crafted wrong)
{
	struct event_umask *um = section_of(ef, SECTION_UMASKS);
	size_t n =
	    ef->evf_section[SECTION_UMASKS].evf_section_bytes / sizeof *um;
	unsigned pics = ef->evf_section[SECTION_PICS].evf_section_bytes /
	                sizeof(event_pics_t);
	unsigned half = 1U << (31 - __builtin_clz(pics - 1));

	assert_true(pics < 2 * half);
	for (; n > 0; n--, um++) {
		if (wrong == EXTRA) {
			um->um_flags |= 6 << UM_EXTRA_SHIFT;
			continue;
		}
		um->um_flags = EXTRA_OFFCORE0 << UM_EXTRA_SHIFT;
		um->um_extra = (uint16_t)(n % 2 != 0 ? half : half - 1);
		um->um_alias = um->um_group = 0;
	}
}

static void
craft(struct event_file *ef, enum crafted wrong)
{
	size_t after = offsetof(struct event_file, evf_section);

	if (wrong >= EXTRA)
		craft_masks(ef, wrong);
	else if (wrong == NAMES_END)
		ef->evf_section[SECTION_NAMES].evf_section_bytes =
		    ef->evf_bytes - ef->evf_section[SECTION_NAMES].evf_at;
	else
		craft_pmus(ef, wrong);
	ef->evf_sum = event_file_sum((char *)ef + after, ef->evf_bytes - after);
}

/* Write Intel's table: its first `bytes`, with one bit changed or `wrong`. */
static void
write_table(size_t bytes, size_t change, enum crafted wrong)
{
	const char *self = "build/events/intel";
	char path[64], *data;
	struct stat st;
	FILE *f = fopen(self, "rb");

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	data = malloc((size_t)st.st_size);
	assert_int_equal(fread(data, (size_t)st.st_size, 1, f), 1);
	fclose(f);
	if (wrong != 0)
		craft((struct event_file *)data, wrong);
	if (change != 0)
		data[change] ^= 1;
	if (bytes == 0)
		bytes = (size_t)st.st_size;
	snprintf(path, sizeof path, "%s/intel", table_folder);
	f = fopen(path, "wb");
	assert_int_equal(fwrite(data, bytes, 1, f), 1);
	fclose(f);
	free(data);
}

/* Unit masks whose bits refer to no value together are refused. */
static void
refuses_two_masks(const struct events *es)
{
	const struct event_row *row;
	unsigned refused = 0;
	struct event_spec sp;
	struct event_code ec;
	char name[256];

	for (unsigned n = 0; n < es->es_pmu->ep_nrow; n++) {
		row = event_row_at(es, n);
		if (events_nth_row(es, n) == NULL || row->er_nlist < 2)
			continue;
		snprintf(name, sizeof name, "%s:%s:%s",
		    events_text(es, row->er_name),
		    events_text(es, event_umask_at(es, row, 0)->um_name),
		    events_text(es, event_umask_at(es, row, 1)->um_name));
		if (events_parse(es, name, EVENT_ANY_CASE, &sp) != EVENT_OK ||
		    sp.spc_numask != 2)
			continue;
		/* Neighbours in a list mostly are so in their section. */
		if (events_encode(es, &sp, &ec) == EVENT_BAD_MIX)
			refused++;
		else
			assert_true(ec.ec_extra == EXTRA_OFFCORE0);
	}
	assert_in_range(refused, 20, 1000);
}

static const char two_masks[] = "", of_umask[] = "";

/* Haswell: 48H with 01H counts on PIC 2, C0H with 01H on PIC 1. */
static void
has_pics_of_umask(const struct machine *mc)
{
	char padded[16 + EVENT_WORD] = "0x48";
	struct cpc_event ce;

	assert_true(machine_needs_table(mc, padded, true));
	assert_true(machine_event(mc, padded, true, 0x48, &ce));
	machine_set_attr(mc, CPC_ATTR_CMASK, 1, &ce);
	assert_int_equal(ce.ce_pics, 0xf);
	machine_set_attr(mc, CPC_ATTR_UMASK, 1, &ce);
	assert_int_equal(ce.ce_pics, 4);
	machine_set_attr(mc, CPC_ATTR_UMASK, 0x77, &ce);
	assert_int_equal(ce.ce_pics, 0xf);
	assert_true(machine_name(mc, "PAPI_tot_ins", &ce));
	machine_set_attr(mc, CPC_ATTR_UMASK, 1, &ce);
	assert_int_equal(ce.ce_pics, 0x12);
}

/* Files are mapped once a process: a new one.  `what`: the reason expected. */
static void
in_child(const char *what, unsigned model)
{
	struct machine mc = skylake();
	char why[256];
	int status;

	fflush(NULL);
	if (fork() == 0) {
		mc.mc_pmu.pm_model = model;
		machine_load(&mc, table_folder);
		snprintf(why, sizeof why,
		    "%s%s: raw codes (r1c0, 0xc0) and architected events "
		    "work, `list' prints them",
		    model == 94 ? table_folder : "", what);
		if (*what == '\0')
			assert_non_null(mc.mc_table.es_pmu);
		if (what == two_masks)
			refuses_two_masks(&mc.mc_table);
		if (what == of_umask)
			has_pics_of_umask(&mc);
		if (*what != '\0')
			expect_no_table(&mc, why);
		_exit(0);
	}
	wait(&status);
	assert_int_equal(status, 0);
}

TEST(a_bad_file_is_reported)
{
	char path[64];

	assert_non_null(mkdtemp(table_folder));
	in_child("/intel is not in this image", 94);
	write_table(0, 0, 0);
	in_child(of_umask, 60);
	in_child("no table of events exists for this CPU (family 0x6, model "
		 "0x3)",
	    3);
	write_table(4096 * 3, 0, 0);
	in_child("/intel is truncated", 94);
	write_table(10, 0, 0);
	in_child("/intel is not a table of events", 94);
	write_table(0, 4096, 0);
	in_child("/intel is damaged", 94);
	for (enum crafted wrong = ROWS; wrong < MIXED; wrong++) {
		write_table(0, 0, wrong);
		in_child("/intel is damaged", 94);
	}
	write_table(0, 8, 0);
	in_child("/intel is of another version of barecpc", 94);
	write_table(0, 1, 0);
	in_child("/intel is not a table of events", 94);
	write_table(0, 0, MIXED);
	in_child(two_masks, 94);
	snprintf(path, sizeof path, "%s/intel", table_folder);
	unlink(path);
	rmdir(table_folder);
}

/* A name is in the list of a PIC if it resolves to this PIC. */
TEST(lists_and_names_agree)
{
	struct machine mc = skylake();
	char name[CPC_MAX_EVENT_LEN + EVENT_WORD];
	unsigned listed[2] = { 0 };
	struct cpc_event ce;

	mc.mc_table = events_cpu(event_dbs, EVENT_INTEL, 6, 94, 3);
	for (unsigned pic = 0; pic < 7; pic++) {
		for (unsigned generic = 0; generic < 2; generic++) {
			struct machine_list ml = { 0 };

			while (machine_next(&mc, 1ULL << pic, generic, &ml,
			    name, CPC_MAX_EVENT_LEN)) {
				assert_true(machine_name(&mc, name, &ce));
				assert_true(ce.ce_pics >> pic & 1);
				assert_int_equal(
				    strncmp(name, "PAPI", 4) == 0, generic);
				listed[generic]++;
			}
		}
	}
	assert_in_range(listed[0], 1000, 10000);
	assert_in_range(listed[1], 20, 1000);
}
