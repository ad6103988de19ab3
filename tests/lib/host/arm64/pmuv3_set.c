/* Sets on the PMUv3 backend, for its host tests. */

#include "tests/lib/host/arm64/pmuv3_set.h"

#include <string.h>

#include "kern/cpc/pcbe.h"
#include "tests/lib/host/named.h"

const struct fake_shape shape_v3p5 = {
	.version = 6,
	.nevent = 6,
	.ceid = { CEID0_QEMU, 0 },
};

static const struct pcbe_ops *const ops = &pmuv3_pcbe_ops;

struct fake_shape
shape_of(unsigned version, unsigned nevent)
{
	struct fake_shape shape = shape_v3p5;

	shape.version = version;
	shape.nevent = nevent;
	return shape;
}

void
boot(const struct fake_shape *shape)
{
	fake_reset(shape);
	memset(&pmuv3, 0, sizeof pmuv3);
	for (fake_self = 0; fake_self < FAKE_NCPU; fake_self++)
		pmuv3_pcbe_init(false, MIDR_EMULATED);
	fake_self = 0;
	pmuv3_pcbe_overflow(PMUV3_PLAIN);
}

enum pmuv3_overflow
boot_proved(const struct fake_shape *shape)
{
	boot(shape);
	pmuv3_prove_overflow(fake_pending, false);
	return pmuv3.pv_overflow;
}

int
fixture_down(void **state)
{
	struct set none;

	if (pmuv3.pv_version == 0)
		return 0;
	for (fake_self = FAKE_NCPU; fake_self-- > 0;) {
		ops->allstop();
		assert_int_equal(fake_pmu[fake_self].pmcnten, PMCNTEN_CYCLES);
		assert_int_equal(fake_pmu[fake_self].pmuserenr, 0);
		fake_run(0, 1);
		/* An empty set clears the counters of the one before. */
		set_init(&none, 0);
		set_start(&none);
		set_stop(&none);
		for (unsigned n = 0; n < fake_shape.nevent; n++)
			assert_int_equal(fake_pmu[fake_self].pmevcntr[n], 0);
	}
	return 0;
}

void
set_init(struct set *s, uint32_t pics)
{
	memset(s, 0, sizeof *s);
	s->set.ps_pics = pics;
	s->set.ps_spare = (uint32_t)pmuv3.pv_pics & ~pics;
	s->set.ps_user_read = true;
	s->set.ps_page = &s->page;
}

int
set_add(struct set *s, const char *event, unsigned pic, unsigned flags,
    uint64_t from)
{
	unsigned i = s->set.ps_n;
	struct pcbe_cfg *cfg = &s->cfg[i];
	struct cpc_event ev = { 0 };
	int subcode;

	assert_true(named_event(ops, event, &ev) >> pic & 1);
	cfg->pc_pic = (uint8_t)pic;
	cfg->pc_notify = (flags & CPC_OVF_NOTIFY_EMT) != 0;
	cfg->pc_flags = (uint16_t)flags;
	s->set.ps_cfg = s->cfg;
	s->data[i] = from;
	subcode = ops->configure(cfg, &ev, 0, NULL, &s->set, &named_refusal);
	if (subcode == 0)
		s->set.ps_n++;
	return subcode;
}

void
set_one(struct set *s, const char *event, unsigned pic, unsigned flags,
    uint64_t from)
{
	set_init(s, 1U << pic);
	assert_int_equal(set_add(s, event, pic, flags, from), 0);
}

void
set_start(struct set *s)
{
	for (unsigned i = 0; i < s->set.ps_n; i++)
		s->reqs[i].cq_data = s->data[i];
	ops->program(&s->set);
}

void
set_sample(struct set *s)
{
	ops->sample(&s->set, &s->sample);
}

uint64_t
set_stop(struct set *s)
{
	uint64_t overflowed = ops->stop(&s->set);

	for (unsigned i = 0; i < s->set.ps_n; i++)
		s->data[i] = s->reqs[i].cq_data;
	return overflowed;
}

uint64_t
set_run(struct set *s, uint64_t n)
{
	set_start(s);
	fake_run(0, n);
	return set_stop(s);
}
