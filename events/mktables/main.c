/*
 * Turn libpfm4's tables of core PMUs into our arrays (events/table.h).
 * scripts/mkevents compiles and runs it, once for each vendor.
 *
 *	mkevents VENDOR FIRST-LINE LIBPFM4
 *
 * VENDOR is intel, amd or arm.  FIRST-LINE begins the output.  LIBPFM4 is what
 * its tables are called.  The vendor's facts and PAPI's presets are parts of
 *the program.
 */
#include <err.h>
#include <stdlib.h>

#include <pfmlib_common.c>

#include <pfmlib_intel_x86_priv.h>

#include <events/intel_x86_arch_events.h>

#include "events/mktables/tables.h"

/* The families of each vendor.  The last of a vendor matches any PMU. */
static const struct vendor {
	const char *v_name;
	const struct family *v_family[3];
} vendors[] = {
	{ "intel", { &netburst_family, &intel_family } },
	{ "amd", { &amd_family } },
	{ "arm", { &arm_family } },
};

/*
 * Make the table of the architectural PMU.  libpfm4 makes it from the CPUID of
 * the machine that it runs on.  This one has all events.
 */
static void
arch_table(void)
{
	static intel_x86_entry_t pe[LENGTH(intel_x86_arch_pe)];
	pfmlib_pmu_t *p = NULL;

	for (unsigned i = 0; i < LENGTH(pfmlib_pmus); i++) {
		if (strcmp(pfmlib_pmus[i]->name, "ix86arch") == 0)
			p = pfmlib_pmus[i];
	}
	memcpy(pe, intel_x86_arch_pe, sizeof pe);
	for (unsigned i = 0; i < LENGTH(pe); i++) {
		pe[i].modmsk = INTEL_V4_ATTRS;
		/* This table has bits of CPUID here, others have PICs. */
		pe[i].cntmsk = 0xff;
	}
	p->pe = pe;
	p->pme_count = LENGTH(pe);
	p->num_cntrs = 8;
	p->num_fixed_cntrs = 3;
	p->flags |= PFMLIB_PMU_FL_ACTIVE;
}

/* The vendor's family of a PMU, or NULL. */
static const struct family *
family_of(const struct vendor *v, const pfmlib_pmu_t *p)
{
	const struct family *f;

	if (p->type != PFM_PMU_TYPE_CORE)
		return NULL;
	for (unsigned i = 0; (f = v->v_family[i]) != NULL; i++) {
		if (strncmp(p->name, f->f_prefix, strlen(f->f_prefix)) == 0)
			break;
	}
	/* Intel's names have no common prefix. */
	return f == &intel_family && strncmp(p->name, amd_family.f_prefix,
					 strlen(amd_family.f_prefix)) == 0
	           ? NULL
	           : f;
}

/* Has the PMU a vendor's file?  Its table is made of that, then. */
static bool
has_facts(const pfmlib_pmu_t *p)
{
	for (unsigned i = 0; i < facts_npmu; i++) {
		if (strcmp(facts_pmu[i].fp_pmu.ep_name, p->name) == 0)
			return true;
	}
	return false;
}

/*
 * List the vendor's PMUs that share the table of libpfm4's PMU i; empty if an
 * earlier PMU listed them.
 */
static struct table
table_of(const struct vendor *v, unsigned i)
{
	struct table t = { .t_npmu = 0 };

	for (unsigned j = 0; j < LENGTH(pfmlib_pmus); j++) {
		const pfmlib_pmu_t *p = pfmlib_pmus[j];

		if (p->pe != pfmlib_pmus[i]->pe || family_of(v, p) == NULL ||
		    has_facts(p))
			continue;
		if (j < i)
			return (struct table){ .t_npmu = 0 };
		if (t.t_npmu == MAX_TABLE)
			errx(1, "%s: too many share its table", p->name);
		t.t_pmu[t.t_npmu++] = p;
	}
	return t;
}

/* Add the nth PMU of a table.  ep has the fields about its rows. */
static void
pmu_add(const struct family *f, const struct table *t, unsigned n,
    const char *source, struct event_pmu ep)
{
	const pfmlib_pmu_t *p = t->t_pmu[n];

	if (strlen(p->name) >= sizeof ep.ep_name ||
	    strlen(p->desc) >= sizeof ep.ep_desc ||
	    strlen(source) >= sizeof ep.ep_source)
		errx(1, "%s: the name is too long", p->name);
	strcpy(ep.ep_name, p->name);
	strcpy(ep.ep_desc, p->desc);
	strcpy(ep.ep_source, source);
	ep.ep_model = (uint8_t)(1U << n);
	ep.ep_kind = (uint8_t)f->f_kind;
	ep.ep_npic = (uint8_t)p->num_cntrs;
	ep.ep_nfixed = (uint8_t)p->num_fixed_cntrs;
	if ((p->flags & PFMLIB_PMU_FL_RAW_UMASK) != 0)
		ep.ep_flags |= PMU_RAW_UMASK;
	if (f->f_pmu != NULL)
		f->f_pmu(p, &ep);
	pool_add(SECTION_PMUS, &ep, 1);
}

/*
 * CPUs of Arm's share a table: most of their events are the same, and have no
 * unit masks.
 */
#define MAX_SHARED(v) ((v)->v_family[0] == &arm_family ? 8U : 1U)

/* Add the CPUs from one of them on that have a vendor's file: at most n. */
static void
add_facts(unsigned first, unsigned n)
{
	struct event_pmu rows = { .ep_name = "" }, ep;
	unsigned alike = n == 1 ? facts_pmu[first].fp_same : first;

	if (n > facts_npmu - first)
		n = facts_npmu - first;
	if (alike < first)
		rows = ((struct event_pmu *)pool[SECTION_PMUS].p_at)[alike];
	else
		rows_add_facts(&facts_pmu[first], n, &rows);
	for (unsigned i = 0; i < n; i++) {
		ep = facts_pmu[first + i].fp_pmu;
		ep.ep_first = rows.ep_first;
		ep.ep_nrow = rows.ep_nrow;
		ep.ep_index = rows.ep_index;
		ep.ep_bits = rows.ep_bits;
		ep.ep_shift = rows.ep_shift;
		ep.ep_model = (uint8_t)(1U << i);
		pool_add(SECTION_PMUS, &ep, 1);
	}
}

static void
gather_tables(const struct vendor *v, const char *source)
{
	struct event_pmu ep = { .ep_name = "" };
	const struct family *f;
	struct table t;

	/* Number 0 means no name, no alias, no PICs. */
	pool_add(SECTION_ALIASES, "", 1);
	pool_add(SECTION_PICS, &(event_pics_t){ 0 }, 1);
	for (unsigned i = 0; i < facts_npmu; i += MAX_SHARED(v))
		add_facts(i, MAX_SHARED(v));
	for (unsigned i = 0; i < LENGTH(pfmlib_pmus); i++) {
		t = table_of(v, i);
		ep = (struct event_pmu){ .ep_name = "" };
		f = family_of(v, pfmlib_pmus[i]);
		if (t.t_npmu > 0)
			rows_add(f, &t, &ep);
		for (unsigned n = 0; n < t.t_npmu; n++)
			pmu_add(f, &t, n, source, ep);
	}
	tags_add();
}

int
main(int argc, char **argv)
{
	unsigned v = 0;

	while (argc == 4 && v < LENGTH(vendors) &&
	       strcmp(argv[1], vendors[v].v_name) != 0)
		v++;
	if (argc != 4 || v == LENGTH(vendors))
		errx(1, "usage: mkevents intel|amd|arm FIRST-LINE LIBPFM4");
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		errx(1, "pfm_initialize failed");
	if (strcmp(argv[1], "intel") == 0)
		arch_table();
	gather_tables(&vendors[v], argv[3]);
	presets_add();
	write_all(argv[1], argv[2]);
	return 0;
}
