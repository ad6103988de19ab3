/* libcpc on the model, and the rest of the program that vpmu calls. */
#include "tests/lib/host/vpmu/model_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/results/json.h"

#define ANY_FREE NPIC

/* The tick is the TSC; the cpc_t is only a name. */
static char handle;

static const struct {
	const char *name;
	enum event event;
	unsigned pics;
} names[] = {
	{ "PAPI_tot_ins", INSNS, 0x7 },
	{ "PAPI_tot_cyc", CYCLES, 0xb },
	{ "reference", REFERENCE, 0x10 },
	{ "0xc0", INSNS, 0x7 },
	{ "0x3c", CYCLES, 0xb },
	{ "0x13c", REFERENCE, 0x3 },
	{ "0xc4", BRANCHES, 0x3 },
	{ "PAPI_br_ins", BRANCHES, 0x3 },
	{ "PAPI_ld_ins", LOADS, 0x3 },
	{ "PAPI_br_msp", MISSES, 0x3 },
	{ "other", OTHER, 0x3 },
};

cpc_set_t *
cpc_set_create(cpc_t *cpc)
{
	return calloc(1, sizeof(struct __cpc_set));
}

int
cpc_set_destroy(cpc_t *cpc, cpc_set_t *set)
{
	if (model_bound == set)
		model_bound = NULL;
	free(set);
	return 0;
}

static uint64_t
attribute(uint_t nattrs, const cpc_attr_t *attrs, const char *name,
    uint64_t otherwise)
{
	for (uint_t i = 0; i < nattrs; i++) {
		if (strcmp(attrs[i].ca_name, name) == 0)
			return attrs[i].ca_val;
	}
	return otherwise;
}

/* The CPU has all presets, and lacks the other names of rules. */
static bool unknown;

static bool
taken(const cpc_set_t *set, unsigned pic)
{
	for (int i = 0; i < set->n; i++) {
		if (set->request[i].pic == pic)
			return true;
	}
	return false;
}

static uint64_t
kept_preset(uint64_t preset)
{
	return vpmu_defect == CUTS_PRESET && preset >> 63 == 0
	           ? preset & ((1ULL << 40) - 1)
	           : preset;
}

int
cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs)
{
	unsigned pic = (unsigned)attribute(nattrs, attrs, "picnum", ANY_FREE);
	unsigned i = 0;

	unknown = strncmp(event, "PAPI_", 5) != 0;
	if (attribute(nattrs, attrs, "umask", 0) == 1)
		event = "0x13c";
	while (i < sizeof names / sizeof names[0] &&
	       strcmp(names[i].name, event) != 0)
		i++;
	if (i == sizeof names / sizeof names[0] || set->n == MOST ||
	    (vpmu_defect == REFUSES_BRANCHES && names[i].event == BRANCHES))
		return -1;
	if (pic == ANY_FREE) {
		for (pic = 0; pic < NGENERAL && taken(set, pic); pic++)
			;
		if (pic == NGENERAL)
			return -1;
	}
	if ((names[i].pics >> pic & 1) == 0 || taken(set, pic))
		return -1;
	set->request[set->n] = (struct request){ .pic = pic,
		.event = names[i].event,
		.flags = flags,
		.preset = preset,
		.masked = attribute(nattrs, attrs, "cmask", 0) > 1 };
	return set->n++;
}

static void
start(cpc_set_t *set)
{
	for (int i = 0; i < set->n; i++)
		set->request[i].value = kept_preset(set->request[i].preset);
	model_stopped = model_frozen = model_again = false;
}

int
cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags)
{
	model_bound = set;
	start(set);
	model_retire(40, 3, CPC_COUNT_USER);
	return 0;
}

int
cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags)
{
	set->cpu = true;
	return cpc_bind_curlwp(cpc, set, flags);
}

int
cpc_unbind(cpc_t *cpc, cpc_set_t *set)
{
	model_bound = NULL;
	return 0;
}

int
cpc_request_preset(cpc_t *cpc, int index, uint64_t preset)
{
	model_bound->request[index].preset = preset;
	return 0;
}

int
cpc_set_restart(cpc_t *cpc, cpc_set_t *set)
{
	start(set);
	model_retire(30, 3, CPC_COUNT_USER);
	return 0;
}

int
cpc_disable(cpc_t *cpc)
{
	model_stopped = true;
	return 0;
}

int
cpc_enable(cpc_t *cpc)
{
	model_stopped = false;
	return 0;
}

cpc_buf_t *
cpc_buf_create(cpc_t *cpc, cpc_set_t *set)
{
	return calloc(1, sizeof(struct __cpc_buf));
}

int
cpc_buf_destroy(cpc_t *cpc, cpc_buf_t *buf)
{
	free(buf);
	return 0;
}

int
cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	model_enter_kernel(25, 200);
	/* An iteration takes four ticks. */
	if (vpmu_defect == EMULATED || vpmu_defect == UNCLEAR)
		model_tick +=
		    (vpmu_defect == EMULATED ? 2000 : 800) * (uint64_t)set->n;
	for (int i = 0; i < set->n; i++)
		buf->value[i] = set->request[i].sampled = set->request[i].value;
	buf->tick = model_tick;
	return 0;
}

int
cpc_buf_get(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t *val)
{
	*val = buf->value[index];
	return 0;
}

uint64_t
cpc_buf_tick(cpc_t *cpc, cpc_buf_t *buf)
{
	return buf->tick;
}

hrtime_t
gethrtime(void)
{
	return (hrtime_t)model_tick;
}

int
cpc_request_info(cpc_t *cpc, cpc_set_t *set, int index, cpc_reqinfo_t *info)
{
	info->ri_picnum = info->ri_index = set->request[index].pic;
	info->ri_width = WIDTH;
	info->ri_code = set->request[index].event;
	return 0;
}

uint_t
cpc_caps(cpc_t *cpc)
{
	return CPC_CAP_OVERFLOW_INTERRUPT;
}

uint_t
cpc_npic(cpc_t *cpc)
{
	return NPIC;
}

void
cpc_walk_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event))
{
	if (picno == 4)
		action(arg, picno, "reference");
}

void
cpc_walk_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event))
{
	action(arg, "reference");
	action(arg, "other");
}

cpc_t *
cpc_open(int ver)
{
	model_main_thread = pthread_self();
	return (cpc_t *)&handle;
}

int
cpc_close(cpc_t *cpc)
{
	return 0;
}

long
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	if (op == CPC_OP_PMU)
		*(struct cpc_pmu *)a =
		    (struct cpc_pmu){ .pm_kind = CPC_PMU_INTEL,
			    .pm_general = 0x3,
			    .pm_own = { 0x4, 0x8, 0x10 },
			    .pm_attrs = 1U << CPC_ATTR_CMASK,
			    .pm_events = { 0x27 } };
	return 0;
}

/* The rest of the program. */
void
cpc_error_keep(cpc_t *cpc)
{
}

void
cpc_error_forget(void)
{
}

int
cpc_error_subcode(void)
{
	return unknown ? CPC_INVALID_EVENT : CPC_RESOURCE_UNAVAIL;
}

const char *
cpc_error_text(void)
{
	return "the model refuses it";
}

const char *
cpc_error_of_open(char *buf, size_t size)
{
	return buf;
}

const char *
json_machine(void)
{
	static char text[400];
	size_t n = 0;

	for (unsigned pic = 0; pic < NPIC; pic++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		    "{\"pic\":%u,\"width\":%u,\"unproved\":%s},", pic, WIDTH,
		    vpmu_defect == UNPROVED && pic == 1 ? "\"reads 0\""
							: "null");
	return text;
}

const struct vpmu_property register_properties[] = { { NULL, NULL, 0 } };
