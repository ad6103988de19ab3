/*
 * The table of a CPU.  A CPU without one keeps the names of own_*.c, which
 * every CPU of its kind has.
 */
#include "events/events.h"

static const struct events none = { NULL, NULL };

/* The nth PMU of a vendor. */
static struct events
nth_of_vendor(const struct event_db *db, unsigned n)
{
	if (db == NULL ||
	    n >= db->ed_bytes[SECTION_PMUS] / sizeof(struct event_pmu))
		return none;
	const struct event_pmu *p = db->ed_at[SECTION_PMUS];
	return (struct events){ db, &p[n] };
}

static bool
is_same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static struct events
find_named(const struct event_db *db, const char *name)
{
	struct events es;

	for (unsigned n = 0; (es = nth_of_vendor(db, n)).es_pmu != NULL; n++) {
		if (is_same(es.es_pmu->ep_name, name))
			break;
	}
	return es;
}

static bool
has_model(const struct event_pmu *p, unsigned family, unsigned model)
{
	for (unsigned i = 0; p->ep_family == family &&
			     i < sizeof p->ep_models && p->ep_models[i] != 0;
	     i++) {
		if (p->ep_models[i] == model)
			return true;
	}
	return false;
}

static struct events
cpu_intel(const struct event_db *db, unsigned family, unsigned model,
    unsigned stepping)
{
	struct events es;

	/* Cascade Lake is a Skylake server of a later stepping. */
	if (family == 6 && model == 85)
		return find_named(db, stepping < 5 ? "skx" : "clx");
	for (unsigned n = 0; (es = nth_of_vendor(db, n)).es_pmu != NULL; n++) {
		if (has_model(es.es_pmu, family, model))
			return es;
	}
	return none;
}

/* Does the description of a PMU end in this text? */
static bool
is_described_by(const struct event_pmu *p, const char *end)
{
	const char *at = p->ep_desc;

	while (*at != '\0' && !is_same(at, end))
		at++;
	return *at != '\0';
}

#define CORE_ATOM 0x20 /* Intel SDM vol. 2A, "CPUID" (leaf 1AH) */

struct events
events_core(const struct event_db *const *dbs, unsigned family, unsigned model,
    unsigned core)
{
	const char *end = core == CORE_ATOM ? "E-core" : "P-core";
	struct events es;

	for (unsigned n = 0;
	     (es = nth_of_vendor(dbs[EVENT_INTEL], n)).es_pmu != NULL; n++) {
		if (has_model(es.es_pmu, family, model) &&
		    is_described_by(es.es_pmu, end))
			return es;
	}
	return none;
}

/*
 * AMD's revision guides: family 0Fh (33610), 10h (41322); Processor
 * Programming References of family 17h and 19h; of family 1Ah the models that
 * perf's map of AMD's lists has.
 */
static const struct {
	uint8_t family, first, last; /* models */
	const char *name;
} amd_parts[] = {
	{ 0x06, 0x00, 0xff, "amd64_k7" },
	{ 0x0f, 0x00, 0x0f, "amd64_k8_revc" },
	{ 0x0f, 0x10, 0x1f, "amd64_k8_revd" },
	{ 0x0f, 0x20, 0x3f, "amd64_k8_reve" },
	{ 0x0f, 0x40, 0x5f, "amd64_k8_revf" },
	{ 0x0f, 0x60, 0x8f, "amd64_k8_revg" },
	{ 0x0f, 0xc0, 0xcf, "amd64_k8_revf" },
	{ 0x10, 0x04, 0x06, "amd64_fam10h_shanghai" },
	{ 0x10, 0x08, 0x09, "amd64_fam10h_istanbul" },
	{ 0x10, 0x00, 0xff, "amd64_fam10h_barcelona" },
	{ 0x11, 0x00, 0xff, "amd64_fam11h_turion" },
	{ 0x12, 0x00, 0xff, "amd64_fam12h_llano" },
	{ 0x14, 0x00, 0xff, "amd64_fam14h_bobcat" },
	{ 0x15, 0x00, 0xff, "amd64_fam15h_interlagos" },
	{ 0x16, 0x00, 0xff, "amd64_fam16h" },
	{ 0x17, 0x00, 0x2f, "amd64_fam17h_zen1" },
	{ 0x17, 0x30, 0xff, "amd64_fam17h_zen2" },
	{ 0x19, 0x00, 0x0f, "amd64_fam19h_zen3" },
	{ 0x19, 0x10, 0x1f, "amd64_fam19h_zen4" },
	{ 0x19, 0x20, 0x5f, "amd64_fam19h_zen3" },
	{ 0x19, 0x60, 0x7f, "amd64_fam19h_zen4" },
	{ 0x19, 0x80, 0xff, "amd64_fam19h_zen4" },
	{ 0x1a, 0x00, 0x2f, "amd64_fam1ah_zen5" },
	{ 0x1a, 0x40, 0x4f, "amd64_fam1ah_zen5" },
	{ 0x1a, 0x60, 0x7f, "amd64_fam1ah_zen5" },
	{ 0x1a, 0x00, 0xff, "amd64_fam1ah_zen6" },
};

static struct events
cpu_amd(const struct event_db *db, unsigned family, unsigned model,
    unsigned stepping)
{
	/* The first K8s. */
	if (family == 0x0f &&
	    ((model == 5 && stepping < 2) || (model == 4 && stepping == 0)))
		return find_named(db, "amd64_k8_revb");
	for (unsigned i = 0; i < sizeof amd_parts / sizeof amd_parts[0]; i++) {
		if (amd_parts[i].family == family &&
		    model >= amd_parts[i].first && model <= amd_parts[i].last)
			return find_named(db, amd_parts[i].name);
	}
	return none;
}

/* Technical reference manuals, "MIDR_EL1": Implementer and PartNum. */
static const struct {
	uint8_t implementer;
	uint16_t part;
	const char *name;
} arm_parts[] = {
	{ 0x41, 0xd01, "arm_ac32" },
	{ 0x41, 0xd02, "arm_ac34" },
	{ 0x41, 0xd03, "arm_ac53" },
	{ 0x41, 0xd04, "arm_ac35" },
	{ 0x41, 0xd05, "arm_ac55" },
	{ 0x41, 0xd06, "arm_ac65" },
	{ 0x41, 0xd07, "arm_ac57" },
	{ 0x41, 0xd08, "arm_ac72" },
	{ 0x41, 0xd09, "arm_ac73" },
	{ 0x41, 0xd0a, "arm_ac75" },
	{ 0x41, 0xd0b, "arm_ac76" },
	{ 0x41, 0xd0c, "arm_n1" },
	{ 0x41, 0xd0d, "arm_ac77" },
	{ 0x41, 0xd0e, "arm_ac76ae" },
	{ 0x41, 0xd15, "arm_ar82" },
	{ 0x41, 0xd40, "arm_v1" },
	{ 0x41, 0xd41, "arm_ac78" },
	{ 0x41, 0xd43, "arm_ac65ae" },
	{ 0x41, 0xd44, "arm_x1" },
	{ 0x41, 0xd46, "arm_ac510" },
	{ 0x41, 0xd47, "arm_ac710" },
	{ 0x41, 0xd48, "arm_x2" },
	{ 0x41, 0xd49, "arm_n2" },
	{ 0x41, 0xd4a, "arm_e1" },
	{ 0x41, 0xd4b, "arm_ac78c" },
	{ 0x41, 0xd4c, "arm_x1c" },
	{ 0x41, 0xd4d, "arm_ac715" },
	{ 0x41, 0xd4e, "arm_x3" },
	{ 0x41, 0xd4f, "arm_v2" },
	{ 0x41, 0xd80, "arm_ac520" },
	{ 0x41, 0xd81, "arm_ac720" },
	{ 0x41, 0xd82, "arm_x4" },
	{ 0x41, 0xd83, "arm_v3ae" },
	{ 0x41, 0xd84, "arm_v3" },
	{ 0x41, 0xd8a, "arm_c1_nano" },
	{ 0x41, 0xd8b, "arm_c1_pro" },
	{ 0x41, 0xd8c, "arm_c1_ultra" },
	{ 0x41, 0xd8e, "arm_n3" },
	{ 0x41, 0xd90, "arm_c1_premium" },
	{ 0x42, 0x100, "arm_ac53" }, /* Broadcom Brahma B53 */
	{ 0x42, 0x516, "arm_thunderx2" },
	{ 0x43, 0x0af, "arm_thunderx2" },
	{ 0x46, 0x001, "arm_a64fx" },
	{ 0x46, 0x003, "arm_monaka" },
	{ 0x48, 0xd01, "arm_kunpeng" },
	{ 0x4e, 0x010, "arm_t410" },
	{ 0x50, 0x000, "arm_xgene" },
	{ 0xc0, 0xac3, "arm_ampereone" },
	{ 0xc0, 0xac4, "arm_ampereonex" },
};

static struct events
cpu_arm(const struct event_db *db, unsigned implementer, unsigned part)
{
	for (unsigned i = 0; i < sizeof arm_parts / sizeof arm_parts[0]; i++) {
		if (arm_parts[i].implementer == implementer &&
		    arm_parts[i].part == part)
			return find_named(db, arm_parts[i].name);
	}
	return none;
}

struct events
events_cpu(const struct event_db *const *dbs, enum event_kind vendor,
    unsigned family, unsigned model, unsigned stepping)
{
	const struct event_db *db = dbs[vendor];

	switch (vendor) {
	case EVENT_INTEL:
		return cpu_intel(db, family, model, stepping);
	case EVENT_AMD:
		return cpu_amd(db, family, model, stepping);
	default:
		return cpu_arm(db, family, model);
	}
}
