/*
 * libpfm4 VENDOR [PMU]...: print libpfm4's tables of a vendor's core PMUs as
 * JSON, a table a line, but those of the PMUs named.  VENDOR is intel, amd or
 * arm.  After them come libpfm4's codes of the names on the standard input
 * that it knows as one code, a line each: `skl::INST_RETIRED:ANY_P 0x5300c0`.
 *
 * scripts/mkevents compiles it with libpfm4's source, because these tables
 * say more than the library's interface does.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include <pfmlib_common.c>

#include <pfmlib_arm_priv.h>
#include <pfmlib_intel_netburst_priv.h>
#include <pfmlib_intel_x86_priv.h>

#include <events/intel_x86_arch_events.h>

/* Fields of AMD's registers, too. */
#undef sel_unit_mask
#undef sel_usr
#undef sel_os
#undef sel_edge
#undef sel_pc
#undef sel_int
#undef sel_en
#undef sel_inv
#undef sel_cnt_mask
#include <pfmlib_amd64_priv.h>

#include "events/table.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* PMUs that share a table; bit n of models is the nth. */
struct table {
	const pfmlib_pmu_t *t_pmu[8];
	unsigned t_npmu;
};

/* A unit mask, and an event with its unit masks. */
struct umask {
	const char *name, *equiv;
	unsigned flags, fixed, group, models;
	uint64_t code, pics; /* pics: 0: those of the event */
};
struct row {
	const char *name, *equiv;
	unsigned mods, code, ngroup, models, numask;
	uint64_t pics;
	struct umask umask[2048];
};

/* How to read one of libpfm4's families of tables. */
struct family {
	const char *f_prefix; /* of its PMUs' names; "": any other */
	enum event_kind f_kind;
	/* Read the nth row of the table; false if it counts nothing. */
	bool (*f_read)(const struct table *t, unsigned n, struct row *r);
};

/* libpfm4's flags to ours. */
struct bit {
	unsigned b_theirs, b_ours;
};

static unsigned
translate(const struct bit *b, unsigned n, unsigned theirs, const char *what)
{
	unsigned ours = 0;

	for (unsigned i = 0; i < n; i++) {
		if ((theirs & b[i].b_theirs) != 0)
			ours |= b[i].b_ours;
		theirs &= ~b[i].b_theirs;
	}
	if (theirs != 0)
		errx(1, "%s: unknown %#x", what, theirs);
	return ours;
}

/* The table's PMUs of this model; model 0: all of them. */
static unsigned
models_of(const struct table *t, unsigned model)
{
	unsigned models = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (model == 0 || model == (unsigned)t->t_pmu[m]->pmu)
			models |= 1U << m;
	}
	return models;
}

/* Intel's PMUs except NetBurst */

static unsigned
intel_mods(unsigned theirs)
{
	static const struct bit bits[] = {
		{ _INTEL_X86_ATTR_K, 1 << MOD_K },
		{ _INTEL_X86_ATTR_U, 1 << MOD_U },
		{ _INTEL_X86_ATTR_E, 1 << MOD_E },
		{ _INTEL_X86_ATTR_I, 1 << MOD_I },
		{ _INTEL_X86_ATTR_C, 1 << MOD_C },
		{ _INTEL_X86_ATTR_T, 1 << MOD_T },
		{ _INTEL_X86_ATTR_LDLAT, 1 << MOD_LDLAT },
		{ _INTEL_X86_ATTR_INTX, 1 << MOD_INTX },
		{ _INTEL_X86_ATTR_INTXCP, 1 << MOD_INTXCP },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static bool
intel_read(const struct table *t, unsigned n, struct row *r)
{
	static const struct bit flags[] = {
		{ INTEL_X86_NCOMBO, UM_ALONE },
		{ INTEL_X86_DFL, UM_DEFAULT },
		{ INTEL_X86_GRP_DFL_NONE, UM_OPTIONAL },
		{ INTEL_X86_CODE_OVERRIDE, UM_EVENT },
		{ INTEL_X86_LDLAT, UM_LDLAT },
		{ INTEL_X86_PEBS | INTEL_X86_NO_AUTOENCODE | INTEL_X86_SPEC |
			INTEL_X86_FALLBACK_GEN | INTEL_X86_GRP_EXCL |
			INTEL_X86_FIXED,
		    0 },
	};
	/* About libpfm4's tests, sampling, or already in the masks. */
	static const struct bit ignored = {
		INTEL_X86_FALLBACK_GEN | INTEL_X86_PEBS | INTEL_X86_FIXED |
		    INTEL_X86_NO_AUTOENCODE | INTEL_X86_SPEC | INTEL_X86_LDLAT |
		    INTEL_X86_FETHR | INTEL_X86_GRP_DFL_NONE,
		0
	};
	const intel_x86_entry_t *e =
	    (const intel_x86_entry_t *)t->t_pmu[0]->pe + n;

	if (e->modmsk_req != 0)
		errx(1, "%s: more than a row holds", e->name);
	translate(&ignored, 1, e->flags, "flags of an event");
	r->name = e->name;
	r->equiv = e->equiv;
	r->mods = intel_mods(e->modmsk);
	r->code = e->code;
	r->ngroup = e->ngrp;
	r->models = models_of(t, e->model);
	r->pics = e->cntmsk;
	r->numask = e->numasks;
	for (unsigned i = 0; i < e->numasks; i++) {
		const intel_x86_umask_t *u = &e->umasks[i];

		if (u->ucode >> 48 != 0 || u->ufilters[0] != 0 ||
		    u->umodmsk_req != 0)
			errx(1, "%s: more than a row holds", u->uname);
		r->umask[i] = (struct umask){ u->uname, u->uequiv,
			translate(flags, LENGTH(flags), u->uflags,
			    "flags of a unit mask"),
			intel_mods(u->modhw), u->grpid, models_of(t, u->umodel),
			u->ucode, u->ucntmsk };
	}
	return true;
}

/*
 * NetBurst.  An event has the number of an ESCR and a selection within it.  A
 * unit mask is a bit of the ESCR's event mask; higher bits are those of its
 * tag.
 * Intel SDM vol. 3B, "Performance Monitoring, Processors Based on Intel
 * NetBurst Microarchitecture".
 */

static bool
netburst_read(const struct table *t, unsigned n, struct row *r)
{
	const netburst_entry_t *e =
	    (const netburst_entry_t *)t->t_pmu[0]->pe + n;
	unsigned i, mask;

	r->name = e->name;
	r->mods = 1U << MOD_K | 1U << MOD_U | 1U << MOD_E | 1U << MOD_CMPL |
	          1U << MOD_THR;
	r->code = e->event_select | e->escr_select << 8;
	r->ngroup = 1;
	/* Only Prescott has the last row. */
	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (n < (unsigned)t->t_pmu[m]->pme_count)
			r->models |= 1U << m;
	}
	/* libpfm4 does not say which PICs an ESCR reaches. */
	r->pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	for (i = 0; i < EVENT_MASK_BITS && e->event_masks[i].name != NULL;
	     i++) {
		mask = 1U << e->event_masks[i].bit;
		/* Other registers select replay events: no real bits. */
		if (e->perf_code == P4_EVENT_REPLAY_EVENT)
			mask &= P4_REPLAY_REAL_MASK;
		r->umask[i] = (struct umask){
			.name = e->event_masks[i].name,
			.flags =
			    (e->event_masks[i].flags & NETBURST_FL_DFL) != 0
				? UM_DEFAULT
				: 0,
			.models = r->models,
			.code = mask << 8, /* the event has the low 8 bits */
		};
	}
	r->numask = i;
	return true;
}

/* AMD */

/* The PMUs whose revision is in the range that the flags hold. */
static unsigned
amd_models(const struct table *t, unsigned flags)
{
	unsigned from = flags >> 8 & 0xff, till = flags >> 16 & 0xff;
	unsigned models = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		unsigned rev = (unsigned)t->t_pmu[m]->pmu_rev;

		if (rev >= from && (till == 0 || rev <= till))
			models |= 1U << m;
	}
	return models;
}

static bool
amd_read(const struct table *t, unsigned n, struct row *r)
{
	static const struct bit mods[] = {
		{ _AMD64_ATTR_K, 1 << MOD_K },
		{ _AMD64_ATTR_U, 1 << MOD_U },
		{ _AMD64_ATTR_E, 1 << MOD_E },
		{ _AMD64_ATTR_I, 1 << MOD_I },
		{ _AMD64_ATTR_C, 1 << MOD_C },
		{ _AMD64_ATTR_H, 1 << MOD_H },
		{ _AMD64_ATTR_G, 1 << MOD_G },
	};
	static const struct bit flags[] = {
		{ AMD64_FL_NCOMBO, UM_ALONE },
		{ AMD64_FL_DFL, UM_DEFAULT },
		{ AMD64_FL_OMIT, UM_OPTIONAL },
	};
	const amd64_entry_t *e = (const amd64_entry_t *)t->t_pmu[0]->pe + n;

	/* IBS samples instructions, and has no counter. */
	if ((e->flags & (AMD64_FL_IBSFE | AMD64_FL_IBSOP)) != 0)
		return false;
	r->name = e->name;
	r->mods = translate(mods, LENGTH(mods), e->modmsk, "modifiers");
	r->code = e->code;
	r->ngroup = e->ngrp;
	r->models = amd_models(t, e->flags);
	/* The tables do not name PICs, so all count. */
	r->pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	r->numask = e->numasks;
	for (unsigned i = 0; i < e->numasks; i++) {
		const amd64_umask_t *u = &e->umasks[i];

		r->umask[i] = (struct umask){
			.name = u->uname,
			.flags = translate(flags, LENGTH(flags),
			    u->uflags & 0xff, "flags of a unit mask"),
			.group = u->grpid,
			.models = amd_models(t, u->uflags),
			/* The event has the low 8 bits, as on Intel. */
			.code = u->ucode << 8,
		};
	}
	return true;
}

/* Arm's PMUs have no unit masks and do not name PICs. */

static bool
arm_read(const struct table *t, unsigned n, struct row *r)
{
	static const struct bit mods[] = {
		{ _ARM_ATTR_K, 1 << MOD_K },
		{ _ARM_ATTR_U, 1 << MOD_U },
		{ _ARM_ATTR_HV, 1 << MOD_HV },
	};
	const arm_entry_t *e = (const arm_entry_t *)t->t_pmu[0]->pe + n;

	r->name = e->name;
	r->equiv = e->equiv;
	r->mods = translate(mods, LENGTH(mods), e->modmsk, "modifiers");
	r->code = e->code;
	r->models = models_of(t, 0);
	r->pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	return true;
}

static const struct family netburst = { "netburst", EVENT_NETBURST,
	netburst_read };
static const struct family intel = { "", EVENT_INTEL, intel_read };
static const struct family amd = { "amd64_", EVENT_AMD, amd_read };
static const struct family arm = { "arm_", EVENT_ARM, arm_read };

/* The vendor's family of a PMU, or NULL. */
static const struct family *
family_of(const char *vendor, const pfmlib_pmu_t *p)
{
	static const struct family *const all[] = { &netburst, &amd, &arm,
		&intel };
	static const char *const vendors[] = { "intel", "amd", "arm", "intel" };
	unsigned i = 0;

	while (
	    strncmp(p->name, all[i]->f_prefix, strlen(all[i]->f_prefix)) != 0)
		i++;
	return p->type == PFM_PMU_TYPE_CORE && strcmp(vendors[i], vendor) == 0
	           ? all[i]
	           : NULL;
}

/*
 * Make the table of the architectural PMU.  libpfm4 makes it from the CPUID of
 * the machine that it runs on.  This one has all events.
 */
static void
make_architectural(void)
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

/*
 * List the PMUs that share the table of libpfm4's PMU i; empty if an earlier
 * PMU listed them.
 */
static struct table
table_of(int argc, char **argv, unsigned i)
{
	struct table t = { .t_npmu = 0 };

	for (unsigned j = 0; j < LENGTH(pfmlib_pmus); j++) {
		const pfmlib_pmu_t *p = pfmlib_pmus[j];
		int k = 2;

		while (k < argc && strcmp(argv[k], p->name) != 0)
			k++;
		if (p->pe != pfmlib_pmus[i]->pe ||
		    family_of(argv[1], p) == NULL || k < argc)
			continue;
		if (j < i)
			return (struct table){ .t_npmu = 0 };
		if (t.t_npmu == LENGTH(t.t_pmu))
			errx(1, "%s: too many share its table", p->name);
		t.t_pmu[t.t_npmu++] = p;
	}
	return t;
}

/* How many codes has a name?  *code becomes the first. */
static int
codes_of(const char *name, uint64_t *code)
{
	uint64_t *codes = NULL;
	int n = 0;

	if (pfm_get_event_encoding(name, PFM_PLM0 | PFM_PLM3, NULL, NULL,
		&codes, &n) != PFM_SUCCESS)
		return -1;
	*code = n > 0 ? codes[0] : 0;
	free(codes);
	return n;
}

/* Can the event count with this unit mask alone, on all models? */
static bool
has_encoding(const struct table *t, unsigned models, const char *event,
    const char *umask)
{
	char text[256];
	uint64_t code;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		snprintf(text, sizeof text, "%s::%s%s%s", t->t_pmu[m]->name,
		    event, umask != NULL ? ":" : "",
		    umask != NULL ? umask : "");
		if ((models >> m & 1) != 0 && codes_of(text, &code) < 0)
			return false;
	}
	return true;
}

static void
print_names(const char *name, const char *equiv)
{
	printf("\"name\": \"%s\", \"equiv\": ", name);
	printf(equiv != NULL ? "\"%s\"" : "null", equiv);
}

static void
print_row(const struct table *t, const struct row *r)
{
	printf("{");
	print_names(r->name, r->equiv);
	printf(", \"mods\": %u, \"code\": %u, \"ngroup\": %u, \"models\": %u, "
	       "\"pics\": %" PRIu64 ", \"flags\": %d, \"umasks\": [",
	    r->mods, r->code, r->ngroup, r->models, r->pics,
	    has_encoding(t, r->models, r->name, NULL) ? ER_BARE : 0);
	for (unsigned i = 0; i < r->numask; i++) {
		const struct umask *u = &r->umask[i];

		printf(i > 0 ? ", {" : "{");
		print_names(u->name, u->equiv);
		printf(", \"flags\": %u, \"fixed\": %u, \"group\": %u, "
		       "\"models\": %u, \"code\": %" PRIu64
		       ", \"pics\": %" PRIu64 ", \"enough\": %d}",
		    u->flags, u->fixed, u->group, u->models, u->code, u->pics,
		    has_encoding(t, u->models & r->models, r->name, u->name));
	}
	printf("]}");
}

static void
print_pmu(const pfmlib_pmu_t *p, enum event_kind kind)
{
	unsigned flags =
	    (p->flags & PFMLIB_PMU_FL_RAW_UMASK) != 0 ? PMU_RAW_UMASK : 0;

	if (kind == EVENT_INTEL && (p->flags & INTEL_X86_PMU_FL_ECMASK) != 0)
		flags |= PMU_EDGE_CMASK;
	printf("{\"name\": \"%s\", \"desc\": \"%s\", \"npic\": %d, "
	       "\"nfixed\": %d, \"flags\": %u, \"family\": %d, \"models\": [",
	    p->name, p->desc, p->num_cntrs, p->num_fixed_cntrs, flags,
	    kind == EVENT_INTEL ? p->cpu_family : 0);
	for (unsigned i = 0; kind == EVENT_INTEL && p->cpu_models != NULL &&
			     p->cpu_models[i] != 0;
	     i++)
		printf("%s%d", i > 0 ? ", " : "", p->cpu_models[i]);
	printf("]}");
}

static void
print_table(const struct family *f, const struct table *t)
{
	static struct row r;
	const char *comma = "";
	int n = 0;

	printf("{\"kind\": %d, \"pmus\": [", f->f_kind);
	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (t->t_pmu[m]->pme_count > n)
			n = t->t_pmu[m]->pme_count;
		printf(m > 0 ? ", " : "");
		print_pmu(t->t_pmu[m], f->f_kind);
	}
	printf("], \"rows\": [");
	for (int i = 0; i < n; i++) {
		r = (struct row){ .name = NULL };
		if (!f->f_read(t, (unsigned)i, &r))
			continue;
		printf("%s", comma);
		print_row(t, &r);
		comma = ", ";
	}
	printf("]}\n");
}

int
main(int argc, char **argv)
{
	struct table t;
	char name[256];
	uint64_t code;

	if (argc < 2)
		errx(1, "usage: libpfm4 intel|amd|arm [PMU]...");
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		errx(1, "pfm_initialize failed");
	if (strcmp(argv[1], "intel") == 0)
		make_architectural();
	for (unsigned i = 0; i < LENGTH(pfmlib_pmus); i++) {
		t = table_of(argc, argv, i);
		if (t.t_npmu > 0)
			print_table(family_of(argv[1], pfmlib_pmus[i]), &t);
	}
	while (scanf("%255s", name) == 1) {
		if (codes_of(name, &code) == 1)
			printf("%s %#" PRIx64 "\n", name, code);
	}
	return 0;
}
