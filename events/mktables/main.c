/*
 * Turn libpfm4's tables of core PMUs into our arrays (events/table.h).
 * scripts/mkevents compiles and runs it, once for each architecture of
 * libpfm4.
 *
 *	mkevents intel|amd|arm 'first line of the output' papi_events.csv
 */
#include <err.h>

#include <pfmlib_common.c>

#include <pfmlib_intel_x86_priv.h>

#include <events/intel_x86_arch_events.h>

#include "events/mktables/tables.h"

/* The families of each vendor.  One that takes any PMU is the last. */
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

/* The PMUs that share PMU i's table; none if an earlier PMU has it, too. */
static struct table
table_of(const struct vendor *v, unsigned i)
{
	struct table t = { .t_npmu = 0 };

	for (unsigned j = 0; j < LENGTH(pfmlib_pmus); j++) {
		if (family_of(v, pfmlib_pmus[j]) == NULL ||
		    pfmlib_pmus[j]->pe != pfmlib_pmus[i]->pe)
			continue;
		if (j < i)
			return (struct table){ .t_npmu = 0 };
		if (t.t_npmu == LENGTH(t.t_pmu))
			errx(1, "%s: too many share its table",
			    pfmlib_pmus[i]->name);
		t.t_pmu[t.t_npmu++] = pfmlib_pmus[j];
	}
	return t;
}

/* Add the nth PMU of a table.  ep has the fields about its rows. */
static void
pmu_add(const struct family *f, const struct table *t, unsigned n,
    struct event_pmu ep)
{
	const pfmlib_pmu_t *p = t->t_pmu[n];

	if (strlen(p->name) >= sizeof ep.ep_name ||
	    strlen(p->desc) >= sizeof ep.ep_desc)
		errx(1, "%s: the name is too long", p->name);
	strcpy(ep.ep_name, p->name);
	strcpy(ep.ep_desc, p->desc);
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

static void
gather_tables(const struct vendor *v)
{
	struct event_pmu ep = { .ep_name = "" };
	struct table t;
	unsigned i, n;

	/* Number 0 means no name, no alias, no PICs. */
	pool_add(SECTION_NAMES, "", 1);
	pool_add(SECTION_ALIASES, "", 1);
	pool_add(SECTION_PICS, &(event_pics_t){ 0 }, 1);
	for (i = 0; i < LENGTH(pfmlib_pmus); i++) {
		if (family_of(v, pfmlib_pmus[i]) == NULL)
			continue;
		t = table_of(v, i);
		if (t.t_npmu > 0)
			rows_add(family_of(v, pfmlib_pmus[i]), &t, &ep);
		for (n = 0; n < t.t_npmu; n++)
			pmu_add(family_of(v, pfmlib_pmus[i]), &t, n, ep);
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
		errx(1, "usage: mkevents intel|amd|arm FIRST-LINE PAPI-EVENTS");
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		errx(1, "pfm_initialize failed");
	if (strcmp(argv[1], "intel") == 0)
		arch_table();
	gather_tables(&vendors[v]);
	presets_add(argv[3]);
	write_all(argv[1], argv[2]);
	return 0;
}
