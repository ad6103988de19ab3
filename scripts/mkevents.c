/*
 * mkevents: turn libpfm4's tables of core PMUs into arrays of ours, see
 * events/table.h.  Compiled and run by scripts/mkevents within the library's
 * source, once for each of its architectures.
 *
 *   mkevents intel|amd|arm 'first line of the output' >events/VENDOR.c
 */
#include <err.h>

#include <pfmlib_common.c>

#include <pfmlib_intel_x86_priv.h>
/* Both x86 vendors' headers give fields these names by macros. */
#undef sel_event_select
#undef sel_unit_mask
#undef sel_usr
#undef sel_os
#undef sel_edge
#undef sel_pc
#undef sel_int
#undef sel_en
#undef sel_inv
#undef sel_cnt_mask
#undef sel_anythr
#undef sel_intx
#undef sel_intxcp
#include <pfmlib_amd64_priv.h>
#include <pfmlib_arm_priv.h>

#include <events/intel_x86_arch_events.h>

#include "events/table.h"

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

static enum event_kind kind;

/* One of the arrays, as it grows. */
struct pool {
	const char *p_name;
	const char *p_type;
	size_t p_size; /* of one */
	unsigned p_n;
	unsigned p_max;
	void *p_at;
};

#define POOL(name, type, max)                                                  \
	{                                                                      \
		name, #type, sizeof(type), 0, max, NULL                        \
	}

static struct pool pool[SECTION_N] = {
	[SECTION_PMUS] = POOL("pmus", struct event_pmu, 64),
	[SECTION_ROWS] = POOL("rows", struct event_row, 0xffff),
	[SECTION_UMASKS] = POOL("umasks", struct event_umask, LIST_UMASK),
	[SECTION_LISTS] = POOL("lists", uint16_t, 0xffff),
	[SECTION_PICS] = POOL("pics", event_pics_t, 0xffff),
	[SECTION_NAMES] = POOL("names", char, 0xffff),
	[SECTION_DESCS] = POOL("descs", uint8_t, 0xffff),
	[SECTION_WORDS] = POOL("words", char, 0xffff),
	[SECTION_WORDAT] = POOL("wordat", uint16_t, 0xffff),
};

/* Append n elements; the number of the first. */
static unsigned
pool_add(enum event_section s, const void *what, unsigned n)
{
	struct pool *p = &pool[s];

	if (p->p_n + n > p->p_max)
		errx(1, "%s: more than %u", p->p_name, p->p_max);
	p->p_at = realloc(p->p_at, (p->p_n + n) * p->p_size);
	if (p->p_at == NULL)
		err(1, NULL);
	memcpy((char *)p->p_at + p->p_n * p->p_size, what, n * p->p_size);
	p->p_n += n;
	return p->p_n - n;
}

/* The number of n elements like these in a row, appended if there are none. */
static unsigned
pool_find(enum event_section s, const void *what, unsigned n)
{
	struct pool *p = &pool[s];

	for (unsigned i = 0; i + n <= p->p_n; i++) {
		if (memcmp((char *)p->p_at + i * p->p_size, what,
			n * p->p_size) == 0)
			return i;
	}
	return pool_add(s, what, n);
}

static uint16_t
name_add(const char *name)
{
	return name == NULL || *name == '\0'
	           ? 0
	           : (uint16_t)pool_find(
			 SECTION_NAMES, name, (unsigned)strlen(name) + 1);
}

/*
 * Descriptions are sequences of words, which are numbered by how often they
 * are used: the first 127 are a byte, the others two.
 */
#define ONE_BYTE 127

static struct word {
	char *w_text;
	unsigned w_used;
} words[4096];
static unsigned nwords;

static unsigned
word_find(const char *text, size_t len)
{
	unsigned i;

	for (i = 0; i < nwords; i++) {
		if (strncmp(words[i].w_text, text, len) == 0 &&
		    words[i].w_text[len] == '\0')
			return i;
	}
	if (nwords == LENGTH(words))
		errx(1, "words: more than %u", nwords);
	words[nwords].w_text = strndup(text, len);
	return nwords++;
}

/* The next word of *desc, or 0: none left. */
static size_t
word_next(const char **desc)
{
	*desc += strspn(*desc, " ");
	return strcspn(*desc, " ");
}

static void
desc_count(const char *desc)
{
	size_t len;

	for (; (len = word_next(&desc)) > 0; desc += len)
		words[word_find(desc, len)].w_used++;
}

static uint16_t
desc_add(const char *desc)
{
	uint8_t code[2048];
	unsigned n = 0, w;
	size_t len;

	for (; (len = word_next(&desc)) > 0; desc += len) {
		if (n + 3 > sizeof code)
			errx(1, "a description is too long: %s", desc);
		w = word_find(desc, len);
		if (w >= ONE_BYTE)
			code[n++] = (uint8_t)(0x80 | w >> 8);
		code[n++] = (uint8_t)(w >= ONE_BYTE ? w : w + 1);
	}
	code[n++] = 0;
	return (uint16_t)pool_find(SECTION_DESCS, code, n);
}

static int
by_use(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->w_used != y->w_used)
		return x->w_used < y->w_used ? 1 : -1;
	return strcmp(x->w_text, y->w_text);
}

static void
words_number(void)
{
	uint16_t at;

	qsort(words, nwords, sizeof words[0], by_use);
	for (unsigned i = 0; i < nwords; i++) {
		at = (uint16_t)pool_add(SECTION_WORDS, words[i].w_text,
		    (unsigned)strlen(words[i].w_text) + 1);
		pool_add(SECTION_WORDAT, &at, 1);
	}
}

static uint16_t
pics_add(uint64_t mask)
{
	event_pics_t pics = mask;

	return (uint16_t)pool_find(SECTION_PICS, &pics, 1);
}

/* Bits of one numbering to those of another. */
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
		{ _INTEL_X86_ATTR_FETHR, 1 << MOD_FETHR },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static unsigned
amd_mods(unsigned theirs)
{
	static const struct bit bits[] = {
		{ _AMD64_ATTR_K, 1 << MOD_K },
		{ _AMD64_ATTR_U, 1 << MOD_U },
		{ _AMD64_ATTR_E, 1 << MOD_E },
		{ _AMD64_ATTR_I, 1 << MOD_I },
		{ _AMD64_ATTR_C, 1 << MOD_C },
		{ _AMD64_ATTR_H, 1 << MOD_H },
		{ _AMD64_ATTR_G, 1 << MOD_G },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static unsigned
arm_mods(unsigned theirs)
{
	static const struct bit bits[] = {
		{ _ARM_ATTR_K, 1 << MOD_K },
		{ _ARM_ATTR_U, 1 << MOD_U },
		{ _ARM_ATTR_HV, 1 << MOD_HV },
	};

	return translate(bits, LENGTH(bits), theirs, "modifiers");
}

static unsigned
intel_event_flags(unsigned theirs)
{
	static const struct bit bits[] = {
		{ INTEL_X86_GRP_EXCL, ER_ONE_GROUP },
		{ INTEL_X86_NHM_OFFCORE, ER_EXTRA },
		{ INTEL_X86_FRONTEND, ER_EXTRA | ER_FRONTEND },
		/* Of their own tests, of sampling, or told by the masks. */
		{ INTEL_X86_FALLBACK_GEN | INTEL_X86_PEBS | INTEL_X86_FIXED |
			INTEL_X86_NO_AUTOENCODE | INTEL_X86_SPEC |
			INTEL_X86_LDLAT | INTEL_X86_FETHR |
			INTEL_X86_GRP_DFL_NONE,
		    0 },
	};

	return translate(bits, LENGTH(bits), theirs, "flags of an event");
}

static unsigned
intel_umask_flags(unsigned theirs)
{
	static const struct bit bits[] = {
		{ INTEL_X86_NCOMBO, UM_ALONE },
		{ INTEL_X86_DFL, UM_DEFAULT },
		{ INTEL_X86_EXCL_GRP_GT, UM_LAST_GROUP },
		{ INTEL_X86_EXCL_GRP_BUT_0, UM_FIRST_GROUP },
		{ INTEL_X86_GRP_REQ, UM_NEEDS },
		{ INTEL_X86_GRP_DFL_NONE, UM_OPTIONAL },
		{ INTEL_X86_CODE_OVERRIDE, UM_EVENT },
		{ INTEL_X86_LDLAT, UM_LDLAT },
		{ INTEL_X86_FETHR, UM_FETHR },
		{ INTEL_X86_PEBS | INTEL_X86_NO_AUTOENCODE | INTEL_X86_SPEC |
			INTEL_X86_FALLBACK_GEN | INTEL_X86_GRP_EXCL |
			INTEL_X86_FIXED,
		    0 },
	};

	return translate(bits, LENGTH(bits), theirs, "flags of a unit mask");
}

static unsigned
amd_umask_flags(unsigned theirs)
{
	static const struct bit bits[] = {
		{ AMD64_FL_NCOMBO, UM_ALONE },
		{ AMD64_FL_DFL, UM_DEFAULT },
		{ AMD64_FL_OMIT, UM_OPTIONAL },
	};

	return translate(
	    bits, LENGTH(bits), theirs & 0xff, "flags of a unit mask");
}

/* What the families' tables have in common, for one table. */
struct table {
	const pfmlib_pmu_t *t_pmu[8]; /* that use it */
	unsigned t_npmu;
};

static int
has_encoding(const struct table *t, unsigned models, const char *event,
    const char *umask)
{
	uint64_t *codes;
	char text[256];
	int n;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if ((models >> m & 1) == 0)
			continue;
		snprintf(text, sizeof text, "%s::%s%s%s", t->t_pmu[m]->name,
		    event, umask != NULL ? ":" : "",
		    umask != NULL ? umask : "");
		codes = NULL;
		n = 0;
		if (pfm_get_event_encoding(text, PFM_PLM0 | PFM_PLM3, NULL,
			NULL, &codes, &n) != PFM_SUCCESS)
			return 0;
		free(codes);
	}
	return 1;
}

/* Which of the table's PMUs have what is of this model only, or 0: of all. */
static unsigned
intel_models(const struct table *t, unsigned model)
{
	unsigned models = 0;

	for (unsigned m = 0; m < t->t_npmu; m++) {
		if (model == 0 || model == (unsigned)t->t_pmu[m]->pmu)
			models |= 1U << m;
	}
	return models;
}

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

/* Which PMUs have a unit mask and whether the event will do with it alone. */
static uint16_t
list_entry(const struct table *t, const struct event_umask *um, unsigned models,
    const char *event, const char *umask)
{
	unsigned n = pool_find(SECTION_UMASKS, um, 1);

	if (has_encoding(t, um->um_models & models, event, umask))
		n |= LIST_ENOUGH;
	return (uint16_t)n;
}

static void
intel_umasks(const struct table *t, const intel_x86_entry_t *e,
    struct event_row *row, uint16_t *list)
{
	for (unsigned i = 0; i < e->numasks; i++) {
		const intel_x86_umask_t *u = &e->umasks[i];
		struct event_umask um = {
			.um_name = name_add(u->uname),
			.um_desc = desc_add(u->udesc),
			.um_equiv = name_add(u->uequiv),
			.um_flags = (uint16_t)intel_umask_flags(u->uflags),
			.um_fixed = (uint16_t)intel_mods(u->modhw),
			.um_wants = (uint16_t)intel_mods(u->umodmsk_req),
			.um_code = (uint32_t)u->ucode,
			.um_high = (uint16_t)(u->ucode >> 32),
			.um_models = (uint8_t)intel_models(t, u->umodel),
			.um_group =
			    (uint8_t)((u->grpid & 0xf) | (u->grpid >> 8) << 4),
			.um_pics = pics_add(u->ucntmsk),
		};

		if (u->ucode >> 48 != 0 || u->ufilters[0] != 0)
			errx(1, "%s: %s: more than a row holds", e->name,
			    u->uname);
		list[i] = list_entry(t, &um, row->er_models, e->name, u->uname);
	}
	row->er_nlist = (uint8_t)e->numasks;
}

static struct event_row
intel_row(const struct table *t, const intel_x86_entry_t *e)
{
	struct event_row row = {
		.er_name = name_add(e->name),
		.er_desc = desc_add(e->desc),
		.er_equiv = name_add(e->equiv),
		.er_mods = (uint16_t)intel_mods(e->modmsk),
		.er_wants = (uint16_t)intel_mods(e->modmsk_req),
		.er_code = e->code,
		.er_flags = (uint8_t)intel_event_flags(e->flags),
		.er_ngroup = (uint8_t)e->ngrp,
		.er_models = (uint8_t)intel_models(t, e->model),
		.er_pics = pics_add(e->cntmsk),
	};
	uint16_t list[UINT8_MAX];

	if (e->numasks > LENGTH(list) || e->ngrp > EVENT_MAXGROUP)
		errx(1, "%s: too many unit masks or groups", e->name);
	intel_umasks(t, e, &row, list);
	if (row.er_nlist > 0)
		row.er_list =
		    (uint16_t)pool_find(SECTION_LISTS, list, row.er_nlist);
	if (has_encoding(t, row.er_models, e->name, NULL))
		row.er_flags |= ER_BARE;
	/* Marked by mistake in 4.13: EXE.AMX_BUSY has no second register. */
	if (strcmp(e->name, "EXE") == 0)
		row.er_flags &= (uint8_t)~ER_EXTRA;
	return row;
}

/* Its tables tell nothing of PICs: each counts everything. */
static struct event_row
amd_row(const struct table *t, const amd64_entry_t *e)
{
	uint64_t pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;
	struct event_row row = {
		.er_name = name_add(e->name),
		.er_desc = desc_add(e->desc),
		.er_mods = (uint16_t)amd_mods(e->modmsk),
		.er_code = e->code,
		.er_nlist = (uint8_t)e->numasks,
		.er_ngroup = (uint8_t)e->ngrp,
		.er_models = (uint8_t)amd_models(t, e->flags),
		.er_pics = pics_add(pics),
	};
	uint16_t list[UINT8_MAX];

	for (unsigned i = 0; i < e->numasks; i++) {
		const amd64_umask_t *u = &e->umasks[i];
		struct event_umask um = {
			.um_name = name_add(u->uname),
			.um_desc = desc_add(u->udesc),
			.um_flags = (uint16_t)amd_umask_flags(u->uflags),
			/* As on Intel: below it the event. */
			.um_code = u->ucode << 8,
			.um_models = (uint8_t)amd_models(t, u->uflags),
			.um_group = (uint8_t)u->grpid,
			.um_pics = pics_add(0),
		};

		list[i] = list_entry(t, &um, row.er_models, e->name, u->uname);
	}
	if (row.er_nlist > 0)
		row.er_list =
		    (uint16_t)pool_find(SECTION_LISTS, list, row.er_nlist);
	if (has_encoding(t, row.er_models, e->name, NULL))
		row.er_flags |= ER_BARE;
	return row;
}

static struct event_row
arm_row(const struct table *t, const arm_entry_t *e)
{
	uint64_t pics = (1ULL << t->t_pmu[0]->num_cntrs) - 1;

	return (struct event_row){
		.er_name = name_add(e->name),
		.er_desc = desc_add(e->desc),
		.er_equiv = name_add(e->equiv),
		.er_mods = (uint16_t)arm_mods(e->modmsk),
		.er_code = e->code,
		.er_flags = ER_BARE,
		.er_models = (uint8_t)intel_models(t, 0),
		.er_pics = pics_add(pics),
	};
}

static const char *
name_of(const struct event_row *row)
{
	return (const char *)pool[SECTION_NAMES].p_at + row->er_name;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(name_of(a), name_of(b));
}

static int
is_counted(const pfmlib_pmu_t *p, unsigned i)
{
	const amd64_entry_t *amd = p->pe;

	/* IBS samples, and counts nothing. */
	return kind != EVENT_AMD ||
	       (amd[i].flags & (AMD64_FL_IBSFE | AMD64_FL_IBSOP)) == 0;
}

/* The rows of a table; the number of the first. */
static unsigned
rows_add(const struct table *t, unsigned *nrow)
{
	const pfmlib_pmu_t *p = t->t_pmu[0];
	struct event_row *rows;
	unsigned n = 0, i;

	if ((rows = calloc((size_t)p->pme_count, sizeof *rows)) == NULL)
		err(1, NULL);
	for (i = 0; i < (unsigned)p->pme_count; i++) {
		if (!is_counted(p, i))
			continue;
		rows[n++] =
		    kind == EVENT_INTEL
			? intel_row(t, (const intel_x86_entry_t *)p->pe + i)
		    : kind == EVENT_AMD
			? amd_row(t, (const amd64_entry_t *)p->pe + i)
			: arm_row(t, (const arm_entry_t *)p->pe + i);
	}
	qsort(rows, n, sizeof rows[0], by_name);
	for (i = 1; i < n; i++) {
		if (by_name(&rows[i - 1], &rows[i]) == 0 &&
		    (rows[i - 1].er_models & rows[i].er_models) != 0)
			errx(1, "%s: %s: twice", p->name, name_of(&rows[i]));
	}
	*nrow = n;
	return pool_add(SECTION_ROWS, rows, n);
}

/* How far a set of PICs goes: the general ones, the fixed ones. */
static void
pmu_pics(struct event_pmu *ep, const pfmlib_pmu_t *p)
{
	ep->ep_npic = (uint8_t)p->num_cntrs;
	ep->ep_nfixed = (uint8_t)p->num_fixed_cntrs;
}

static void
pmu_add(const struct table *t, unsigned m, unsigned first, unsigned nrow)
{
	const pfmlib_pmu_t *p = t->t_pmu[m];
	struct event_pmu ep = {
		.ep_first = (uint16_t)first,
		.ep_nrow = (uint16_t)nrow,
		.ep_model = (uint8_t)(1U << m),
		.ep_kind = (uint8_t)kind,
	};

	if (strlen(p->name) >= sizeof ep.ep_name ||
	    strlen(p->desc) >= sizeof ep.ep_desc)
		errx(1, "%s: the name is too long", p->name);
	strcpy(ep.ep_name, p->name);
	strcpy(ep.ep_desc, p->desc);
	pmu_pics(&ep, p);
	if ((p->flags & PFMLIB_PMU_FL_RAW_UMASK) != 0)
		ep.ep_flags |= PMU_RAW_UMASK;
	if (kind == EVENT_INTEL) {
		if ((p->flags & INTEL_X86_PMU_FL_ECMASK) != 0)
			ep.ep_flags |= PMU_EDGE_CMASK;
		if (p->pmu == PFM_PMU_INTEL_WSM ||
		    p->pmu == PFM_PMU_INTEL_WSM_DP)
			ep.ep_flags |= PMU_OFFCORE16;
		ep.ep_family = (uint8_t)p->cpu_family;
		for (unsigned i = 0;
		     p->cpu_models != NULL && p->cpu_models[i] != 0; i++) {
			if (i == LENGTH(ep.ep_models))
				errx(1, "%s: more models", p->name);
			ep.ep_models[i] = (uint8_t)p->cpu_models[i];
		}
	}
	pool_add(SECTION_PMUS, &ep, 1);
}

/*
 * The architectural PMU: the library makes its table from the CPUID of the
 * machine it runs on; this is the one of a machine that has all of it.
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
		/* Bits of CPUID, where other tables have PICs. */
		pe[i].cntmsk = 0xff;
	}
	p->pe = pe;
	p->pme_count = LENGTH(pe);
	p->num_cntrs = 8;
	p->num_fixed_cntrs = 3;
	p->flags |= PFMLIB_PMU_FL_ACTIVE;
}

static int
is_ours(const pfmlib_pmu_t *p)
{
	if (p->type != PFM_PMU_TYPE_CORE ||
	    strncmp(p->name, "netburst", 8) == 0)
		return 0;
	switch (kind) {
	case EVENT_AMD:
		return strncmp(p->name, "amd64_", 6) == 0;
	case EVENT_ARM:
		return strncmp(p->name, "arm_", 4) == 0;
	default:
		return strncmp(p->name, "amd64_", 6) != 0;
	}
}

/* Gather what the PMUs from number i on share with it. */
static struct table
table_of(unsigned i)
{
	struct table t = { .t_npmu = 0 };

	for (unsigned j = i; j < LENGTH(pfmlib_pmus); j++) {
		if (!is_ours(pfmlib_pmus[j]) ||
		    pfmlib_pmus[j]->pe != pfmlib_pmus[i]->pe)
			continue;
		if (t.t_npmu == LENGTH(t.t_pmu))
			errx(1, "%s: too many share its table",
			    pfmlib_pmus[i]->name);
		t.t_pmu[t.t_npmu++] = pfmlib_pmus[j];
	}
	return t;
}

static int
is_first(unsigned i)
{
	for (unsigned j = 0; j < i; j++) {
		if (is_ours(pfmlib_pmus[j]) &&
		    pfmlib_pmus[j]->pe == pfmlib_pmus[i]->pe)
			return 0;
	}
	return is_ours(pfmlib_pmus[i]);
}

static void
count_words(const pfmlib_pmu_t *p)
{
	const intel_x86_entry_t *intel = p->pe;
	const amd64_entry_t *amd = p->pe;
	const arm_entry_t *arm = p->pe;

	for (unsigned i = 0; i < (unsigned)p->pme_count; i++) {
		if (!is_counted(p, i))
			continue;
		if (kind == EVENT_ARM) {
			desc_count(arm[i].desc);
		} else if (kind == EVENT_AMD) {
			desc_count(amd[i].desc);
			for (unsigned u = 0; u < amd[i].numasks; u++)
				desc_count(amd[i].umasks[u].udesc);
		} else {
			desc_count(intel[i].desc);
			for (unsigned u = 0; u < intel[i].numasks; u++)
				desc_count(intel[i].umasks[u].udesc);
		}
	}
}

static void
gather(void)
{
	unsigned i, m, first, nrow;

	for (i = 0; i < LENGTH(pfmlib_pmus); i++) {
		if (is_first(i))
			count_words(pfmlib_pmus[i]);
	}
	words_number();
	pool_add(SECTION_NAMES, "", 1);
	for (i = 0; i < LENGTH(pfmlib_pmus); i++) {
		if (is_first(i)) {
			struct table t = table_of(i);

			first = rows_add(&t, &nrow);
			for (m = 0; m < t.t_npmu; m++)
				pmu_add(&t, m, first, nrow);
		}
	}
}

static void
print_text(const struct pool *p)
{
	const char *s = p->p_at, *end = s + p->p_n;
	int column = 0;

	for (; s < end; s += strlen(s) + 1) {
		if (column == 0)
			column = printf("\t\"");
		for (const char *c = s; *c != '\0'; c++)
			column +=
			    printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
		/* A digit behind it would be part of the number. */
		column += printf("\\0");
		if (column > 100 || s + strlen(s) + 1 == end ||
		    (s[strlen(s) + 1] >= '0' && s[strlen(s) + 1] <= '9')) {
			printf("\"\n");
			column = 0;
		}
	}
}

static void
print_row(enum event_section s, unsigned i)
{
	const struct event_umask *u = pool[s].p_at;
	const struct event_row *r = pool[s].p_at;

	if (s == SECTION_ROWS)
		printf("\t{ %u, %u, %u, %#x, %#x, %u, %#x, %#x, %u, %u, %#x, "
		       "%u },\n",
		    r[i].er_name, r[i].er_desc, r[i].er_equiv, r[i].er_mods,
		    r[i].er_wants, r[i].er_list, r[i].er_code, r[i].er_flags,
		    r[i].er_nlist, r[i].er_ngroup, r[i].er_models,
		    r[i].er_pics);
	else
		printf("\t{ %u, %u, %u, %#x, %#x, %#x, %#x, %#x, %#x, %#x, %u "
		       "},\n",
		    u[i].um_name, u[i].um_desc, u[i].um_equiv, u[i].um_flags,
		    u[i].um_fixed, u[i].um_wants, u[i].um_code, u[i].um_high,
		    u[i].um_models, u[i].um_group, u[i].um_pics);
}

static void
print_pmu(const struct event_pmu *p)
{
	printf("\t{ \"%s\", \"%s\", %u, %u, %#x, %u, %#x, %u, %u, %u, {",
	    p->ep_name, p->ep_desc, p->ep_first, p->ep_nrow, p->ep_model,
	    p->ep_kind, p->ep_flags, p->ep_npic, p->ep_nfixed, p->ep_family);
	for (unsigned i = 0; i < LENGTH(p->ep_models); i++)
		printf("%s%u", i == 0 ? " " : ", ", p->ep_models[i]);
	printf(" } },\n");
}

static void
print_numbers(const struct pool *p)
{
	for (unsigned i = 0; i < p->p_n; i++) {
		if (p->p_size == 8)
			printf("\t%#" PRIx64 ",\n", ((uint64_t *)p->p_at)[i]);
		else
			printf("%s%u,%s", i % 24 == 0 ? "\t" : " ",
			    p->p_size == 2 ? ((uint16_t *)p->p_at)[i]
					   : ((uint8_t *)p->p_at)[i],
			    i % 24 == 23 || i + 1 == p->p_n ? "\n" : "");
	}
}

static void
print_section(enum event_section s)
{
	const struct pool *p = &pool[s];

	if (s == SECTION_NAMES || s == SECTION_WORDS) {
		printf("\nstatic const char %s[] =\n", p->p_name);
		print_text(p);
		printf("\t\"\";\n");
		return;
	}
	printf("\nstatic const %s %s[] = {\n", p->p_type, p->p_name);
	if (s == SECTION_PMUS)
		for (unsigned i = 0; i < p->p_n; i++)
			print_pmu((struct event_pmu *)p->p_at + i);
	else if (s == SECTION_ROWS || s == SECTION_UMASKS)
		for (unsigned i = 0; i < p->p_n; i++)
			print_row(s, i);
	else
		print_numbers(p);
	printf("};\n");
}

int
main(int argc, char **argv)
{
	static const char *const vendors[] = { "intel", "amd", "arm" };
	unsigned v = 0;

	while (argc == 3 && v < LENGTH(vendors) &&
	       strcmp(argv[1], vendors[v]) != 0)
		v++;
	if (argc != 3 || v == LENGTH(vendors))
		errx(1, "usage: mkevents intel|amd|arm FIRST-LINE");
	kind = (enum event_kind)v;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		errx(1, "pfm_initialize failed");
	if (kind == EVENT_INTEL)
		arch_table();
	gather();
	printf(
	    "/* %s */\n/* clang-format off */\n#include \"events/table.h\"\n",
	    argv[2]);
	for (unsigned s = 0; s < SECTION_N; s++)
		print_section((enum event_section)s);
	printf("\nextern const struct event_db events_%s;\n", vendors[v]);
	printf("const struct event_db events_%s = {\n\t{ ", vendors[v]);
	for (unsigned s = 0; s < SECTION_N; s++)
		printf("%s%s", s > 0 ? ", " : "", pool[s].p_name);
	printf(" },\n\t{ ");
	for (unsigned s = 0; s < SECTION_N; s++)
		printf("%ssizeof %s", s > 0 ? ", " : "", pool[s].p_name);
	printf(" },\n};\n");
	return 0;
}
