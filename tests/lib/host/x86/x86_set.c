/* Sets of requests on an x86 backend, for its host tests. */

#include "tests/lib/host/x86/x86_set.h"

#include <stdlib.h>
#include <string.h>

#include "kern/cpc/kcpc_impl.h"
#include "tests/lib/host/named.h"
#include "tests/lib/host/support.h"
#include "tests/lib/host/x86/fake_msr.h"

#define NATTR 8

const struct pcbe_set *fake_bound;

/* Some tests link the kernel's. */
__attribute__((weak)) bool
pcbe_any_bound(
    bool (*fn)(const struct pcbe_set *set, const void *arg), const void *arg)
{
	return fake_bound != NULL && fn(fake_bound, arg);
}

void
set_init(struct x86_set *s, const struct pcbe_ops *ops)
{
	memset(s, 0, sizeof *s);
	s->ops = ops;
	s->set.ps_user_read = true;
	s->set.ps_privileged = true;
	s->set.ps_page = &s->page;
}

static unsigned
parse_attrs(
    const struct pcbe_ops *ops, const char *text, struct cpc_packattr *attrs)
{
	unsigned n = 0;
	const char *eq;
	char *end;

	while (*text != '\0') {
		eq = strchr(text, '=');
		assert_non_null(eq);
		assert_true(n < NATTR);
		attrs[n].cpa_id = named_attr(ops, text, (size_t)(eq - text));
		attrs[n++].cpa_value = strtoull(eq + 1, &end, 0);
		text = *end == ',' ? end + 1 : end;
	}
	return n;
}

int
set_add(struct x86_set *s, unsigned pic, const char *event, unsigned flags,
    const char *attrs, uint64_t preset)
{
	struct pcbe_cfg *cfg = &s->cfg[s->set.ps_n];
	struct cpc_packattr parsed[NATTR];
	struct cpc_event ev = { 0 };
	int subcode;

	named_own(s->ops, event, &ev);
	s->data[s->set.ps_n] = preset;
	cfg->pc_pic = (uint8_t)pic;
	cfg->pc_flags = (uint16_t)flags;
	cfg->pc_notify = (flags & CPC_OVF_NOTIFY_EMT) != 0;
	s->set.ps_cfg = s->cfg;
	subcode =
	    s->ops->configure(cfg, &ev, parse_attrs(s->ops, attrs, parsed),
		parsed, &s->set, &named_refusal);
	if (subcode == 0) {
		s->set.ps_n++;
		s->set.ps_pics |= 1U << pic;
	}
	return subcode;
}

void
set_start(struct x86_set *s)
{
	for (unsigned i = 0; i < s->set.ps_n; i++)
		s->reqs[i].cq_data = s->data[i];
	s->ops->program(&s->set);
}

void
set_sample(struct x86_set *s)
{
	s->ops->sample(&s->set, &s->sample);
}

uint64_t
set_stop(struct x86_set *s)
{
	uint64_t overflowed = s->ops->stop(&s->set);

	for (unsigned i = 0; i < s->set.ps_n; i++)
		s->data[i] = s->reqs[i].cq_data;
	return overflowed;
}

uint64_t
covers(const struct pcbe_ops *ops, const char *event)
{
	struct cpc_event ev = { 0 };

	return named_own(ops, event, &ev);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool
lacks(const struct pcbe_ops *ops, const char *event)
{
	struct cpc_event ev = { 0 };

	return named_own(ops, event, &ev) != 0 &&
	       (ev.ce_flags & CPC_EVENT_LACKING) != 0;
}

const char *
names_on(const struct pcbe_ops *ops, unsigned pic)
{
	static char text[2048];
	static char names[64][CPC_MAX_EVENT_LEN + EVENT_WORD];
	struct machine mc = *named_machine(ops);
	unsigned n = 0;

	mc.mc_table = (struct events){ NULL, NULL };
	for (unsigned generic = 0; generic < 2; generic++) {
		struct machine_list ml = { 0 };

		while (machine_next(&mc, 1ULL << pic, generic != 0, &ml,
		    names[n], CPC_MAX_EVENT_LEN))
			n++;
	}
	qsort(names, n, sizeof names[0], by_name);
	text[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			strcat(text, ",");
		strcat(text, names[i]);
	}
	return text;
}

const char *
attr_names(const struct pcbe_ops *ops)
{
	static char text[128];

	text[0] = '\0';
	for (unsigned i = 0; i < CPC_ATTR_IDS; i++) {
		if ((ops->pcbe_attrs >> i & 1) == 0)
			continue;
		if (text[0] != '\0')
			strcat(text, ",");
		strcat(text, machine_attr((enum cpc_attr_id)i));
	}
	return text;
}

/* A generator with a fixed seed, so that a failure repeats (Marsaglia). */
static uint64_t
draw_random(void)
{
	static uint64_t seed = 0x9e3779b97f4a7c15;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct cpc_event
random_event(void)
{
	/* An event; with a unit mask; AMD's bits; Intel's; any bits. */
	static const uint64_t bits[] = { 0xff, 0xffff, 0xfff84ffffULL,
		0x3ffa4ffffULL, ~0ULL };
	struct cpc_event ev = { .ce_extra =
				    draw_random() & draw_random() & 0x3ffff };

	ev.ce_code = draw_random() &
	             bits[draw_random() % (sizeof bits / sizeof bits[0])];
	ev.ce_flags = (uint32_t)(draw_random() & draw_random());
	return ev;
}

static bool
add_random(struct x86_set *s, unsigned pic)
{
	struct pcbe_cfg *cfg = &s->cfg[s->set.ps_n];
	struct cpc_event ev = random_event();
	struct cpc_packattr attrs[3];
	unsigned n;

	for (n = 0; n < draw_random() % 4; n++) {
		do
			attrs[n].cpa_id =
			    (uint32_t)(draw_random() % CPC_ATTR_IDS);
		while ((s->ops->pcbe_attrs >> attrs[n].cpa_id & 1) == 0);
		attrs[n].cpa_value = draw_random() % 2 != 0
		                         ? draw_random() % 300
		                         : draw_random();
	}
	*cfg = (struct pcbe_cfg){ .pc_pic = (uint8_t)pic };
	cfg->pc_flags = (uint16_t)(draw_random() & CPC_REQ_ALL_FLAGS);
	cfg->pc_notify = (cfg->pc_flags & CPC_OVF_NOTIFY_EMT) != 0;
	if (s->ops->configure(cfg, &ev, n, attrs, &s->set, &named_refusal) != 0)
		return false;
	s->set.ps_n++;
	s->set.ps_pics |= 1U << pic;
	return true;
}

unsigned
set_invent(const struct pcbe_ops *ops)
{
	unsigned taken = 0;
	struct x86_set s;

	for (unsigned round = 0; round < 20000; round++) {
		set_init(&s, ops);
		s.set.ps_cfg = s.cfg;
		s.set.ps_privileged = draw_random() % 2 != 0;
		for (unsigned pic = 0; pic < ops->ncounters(); pic++)
			taken += add_random(&s, pic);
		if (s.set.ps_n == 0)
			continue;
		ops->program(&s.set);
		ops->stop(&s.set);
	}
	return taken;
}

static unsigned pmis_taken;

static bool
pmi_pending(void)
{
	return fake_cpu[0].pmis != pmis_taken &&
	       pmu_rdtsc() >= fake_cpu[0].raised;
}

static void
pmi_take(void)
{
	pmis_taken = fake_cpu[0].pmis;
}

static bool
never(void)
{
	return false;
}

/* Returns the text of the proof of the interrupt. */
static const char *
overflow_proof(const struct pcbe_ops *ops, bool (*pending)(void))
{
	const struct pcbe_line line = { pending, pmi_take, 2000 };
	struct pcbe_ops copy = *ops;

	pmi_take();
	bool comes = kcpc_prove_overflow(&copy, &line, "", false);
	assert_int_equal(
	    comes, strstr(copy.pcbe_overflow_proof, "late") != NULL);
	return copy.pcbe_overflow_proof;
}

void
expect_proves_overflow(const struct pcbe_ops *ops)
{
	assert_string_equal(overflow_proof(ops, pmi_pending),
	    "comes, at most 0 instructions late");
	assert_string_equal(overflow_proof(ops, never), "does not come");
}

void
expect_finds_lies(const struct pcbe_ops *ops)
{
	struct fake_cpu *c = &fake_cpu[0];

	assert_null(kcpc_prove(ops, 0, 0));
	c->narrow = 40;
	assert_string_equal(kcpc_prove(ops, 0, 0),
	    "is not 48 bits wide: counts 1099511627976, not 200, from 2^48 - "
	    "16777216");
	c->narrow = 0;
	c->no_filter = true;
	assert_string_equal(kcpc_prove(ops, 0, 0),
	    "counts 200 in the kernel with a filter for user privilege");
	c->no_filter = false;
	for (c->loses = 2; c->loses <= 8; c->loses++) {
		c->overflows = 0;
		assert_non_null(strstr(overflow_proof(ops, pmi_pending),
		    "comes, but not for overflow"));
	}
	c->loses = 0;
	c->lags = 1000;
	assert_string_equal(overflow_proof(ops, pmi_pending),
	    "comes, at most 1000 instructions late");
}

void
expect_keeps(const struct pcbe_ops *ops, unsigned pic)
{
	struct x86_set kept, set;

	for (unsigned n = 0; n < ops->ncounters(); n++)
		/* the proof of the last PIC leaves counts in it */
		assert_null(kcpc_prove(ops, n, 0));
	set_init(&kept, ops);
	assert_int_equal(
	    set_add(&kept, pic, "PAPI_tot_ins", CPC_COUNT_USER, "", 0), 0);
	ops->keep(&kept.set);
	fake_run(3, true);
	set_init(&set, ops);
	assert_int_equal(
	    set_add(&set, 0, "PAPI_tot_ins", CPC_COUNT_USER, "", 0), 0);
	for (unsigned i = 1; i <= 2; i++) {
		set_start(&set);
		fake_run(100, true);
		set_stop(&set);
		assert_int_equal(set.data[0], 100 * i);
		fake_run(20, true);
		set_sample(&kept);
		assert_int_equal(kept.data[0], 3 + 120 * i);
	}
}
