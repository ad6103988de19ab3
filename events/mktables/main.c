/*
 * Turn libpfm4's tables of core PMUs into our arrays (events/table.h).
 * scripts/mkevents compiles and runs it, once for each architecture of
 * libpfm4.
 *
 *	mkevents VENDOR FIRST-LINE PAPI-EVENTS JSON-LINES REPORT
 *
 * VENDOR is intel, amd or arm.  FIRST-LINE begins the output.  PAPI-EVENTS is
 * PAPI's papi_events.csv, JSON-LINES the output of perf_json.py.  Lines about
 * names whose sources disagree are appended to REPORT.
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

/*
 * The PMUs of a vendor: libpfm4's, and those that only the JSON has.  The
 * latter are copies of libpfm4's PMU that shares their table, or have none.
 */
static struct entry {
	const pfmlib_pmu_t *en_pmu;
	const char *en_query; /* libpfm4's name, or NULL */
	const struct json_pmu *en_json;
} entries[128];
static unsigned nentry;

static void
add_entry(const pfmlib_pmu_t *p, const char *query, const struct json_pmu *json)
{
	if (nentry == LENGTH(entries))
		errx(1, "%s: more than %zu PMUs", p->name, LENGTH(entries));
	entries[nentry++] = (struct entry){ p, query, json };
}

/* Add a PMU of the JSON: a copy of libpfm4's, or a new one. */
static void
add_json(
    const struct vendor *v, const struct json_pmu *jp, const pfmlib_pmu_t *base)
{
	pfmlib_pmu_t *p = malloc(sizeof *p);
	bool intel = v == &vendors[0];
	pfmlib_pmu_t new = {
		.name = jp->jp_name,
		.desc = jp->jp_desc,
		.pmu = base != NULL ? base->pmu : PFM_PMU_NONE,
		/* Without a base no other PMU shares its table. */
		.pe = base != NULL ? base->pe : (const void *)p,
		.pme_count = base != NULL ? base->pme_count : 0,
		.pmu_rev = base != NULL ? base->pmu_rev : 0,
		.type = PFM_PMU_TYPE_CORE,
		.num_cntrs = jp->jp_npic,
		.num_fixed_cntrs = jp->jp_nfixed,
		.cpu_family = jp->jp_family,
		.flags = base != NULL ? base->flags
		         : intel
		             ? PFMLIB_PMU_FL_RAW_UMASK | INTEL_X86_PMU_FL_ECMASK
		             : 0,
	};

	if (p == NULL)
		err(1, NULL);
	memcpy((void *)p, &new, sizeof new);
	add_entry(p, base != NULL ? base->name : NULL, jp);
}

static void
gather_entries(const struct vendor *v)
{
	const struct json_pmu *jp, *own, *end = json_pmu + json_npmu;

	for (unsigned i = 0; i < LENGTH(pfmlib_pmus); i++) {
		const pfmlib_pmu_t *p = pfmlib_pmus[i];

		if (family_of(v, p) == NULL)
			continue;
		own = NULL;
		for (jp = json_pmu; jp < end; jp++) {
			if (strcmp(jp->jp_name, p->name) == 0)
				own = jp;
		}
		if (own != NULL && own->jp_npic != 0)
			pfmlib_pmus[i]->num_cntrs = own->jp_npic;
		add_entry(p, p->name, own);
		for (jp = json_pmu; jp < end; jp++) {
			if (jp != own && strcmp(jp->jp_base, p->name) == 0)
				add_json(v, jp, p);
		}
	}
	for (jp = json_pmu; jp < end; jp++) {
		if (strcmp(jp->jp_base, "-") == 0)
			add_json(v, jp, NULL);
	}
}

/* List the PMUs that share table i; empty if an earlier PMU listed them. */
static struct table
table_of(unsigned i)
{
	struct table t = { .t_npmu = 0 };

	for (unsigned j = 0; j < nentry; j++) {
		const struct entry *en = &entries[j];

		if (en->en_pmu->pe != entries[i].en_pmu->pe)
			continue;
		if (j < i)
			return (struct table){ .t_npmu = 0 };
		if (t.t_npmu == MAX_TABLE)
			errx(1, "%s: too many share its table",
			    en->en_pmu->name);
		t.t_query[t.t_npmu] = en->en_query;
		t.t_json[t.t_npmu] = en->en_json;
		t.t_pmu[t.t_npmu++] = en->en_pmu;
	}
	return t;
}

/*
 * The JSON says which models a PMU has.  The others are
 * libpfm4's.
 */
static void
set_models(const struct json_pmu *own, struct event_pmu *ep)
{
	uint8_t had[LENGTH(ep->ep_models)];
	unsigned n = 0;
	const int *m;

	memcpy(had, ep->ep_models, sizeof had);
	memset(ep->ep_models, 0, sizeof had);
	for (m = own->jp_models; *m != 0; m++) {
		if (n == LENGTH(had))
			errx(1, "%s: more models", own->jp_name);
		ep->ep_models[n++] = (uint8_t)*m;
	}
	for (unsigned i = 0; i < LENGTH(had) && had[i] != 0; i++) {
		bool known = false;

		for (unsigned j = 0; j < json_npmu; j++) {
			for (m = json_pmu[j].jp_models; *m != 0; m++)
				known |= *m == had[i];
		}
		if (known)
			continue;
		if (n == LENGTH(had))
			errx(1, "%s: more models", own->jp_name);
		ep->ep_models[n++] = had[i];
	}
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
	if (t->t_query[n] != NULL)
		ep.ep_flags |= PMU_LIBPFM4;
	if (t->t_json[n] != NULL)
		ep.ep_flags |= (uint8_t)t->t_json[n]->jp_sources;
	if (t->t_json[n] != NULL && f == &intel_family)
		set_models(t->t_json[n], &ep);
	pool_add(SECTION_PMUS, &ep, 1);
}

static void
gather_tables(const struct vendor *v)
{
	struct event_pmu ep = { .ep_name = "" };
	struct table t;
	unsigned i, n;

	/* Number 0 means no name, no alias, no PICs. */
	pool_add(SECTION_ALIASES, "", 1);
	pool_add(SECTION_PICS, &(event_pics_t){ 0 }, 1);
	gather_entries(v);
	for (i = 0; i < nentry; i++) {
		t = table_of(i);
		if (t.t_npmu > 0)
			rows_add(family_of(v, entries[i].en_pmu), &t, &ep);
		for (n = 0; n < t.t_npmu; n++)
			pmu_add(family_of(v, entries[i].en_pmu), &t, n, ep);
	}
	tags_add();
}

int
main(int argc, char **argv)
{
	unsigned v = 0;

	while (argc == 6 && v < LENGTH(vendors) &&
	       strcmp(argv[1], vendors[v].v_name) != 0)
		v++;
	if (argc != 6 || v == LENGTH(vendors))
		errx(1, "usage: mkevents intel|amd|arm FIRST-LINE PAPI-EVENTS "
			"JSON-LINES REPORT");
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		errx(1, "pfm_initialize failed");
	if (strcmp(argv[1], "intel") == 0)
		arch_table();
	json_read(argv[4], argv[5]);
	gather_tables(&vendors[v]);
	presets_add(argv[3]);
	write_all(argv[1], argv[2]);
	return 0;
}
