/*
 * A set counts the same events after an operation that may fail, or that works
 * for another LWP or CPU.  On each PMU an LWP binds a set.  After each
 * operation the registers are as before, on its CPU and on the next.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the kernel's function has this name in host tests */
#define sched_yield kern_sched_yield
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "tests/host/kern/cpc/registers/machine.h"
#include "tests/lib/host/kcpc/fake_kernel.h"
#include "tests/lib/host/named.h"

void
regs_add(struct regs_file *rf, const char *name, int n, uint64_t value)
{
	assert_true(rf->n < sizeof rf->reg / sizeof rf->reg[0]);
	snprintf(rf->reg[rf->n].name, sizeof rf->reg[0].name,
	    n >= 0 ? "%s%d" : "%s", name, n);
	rf->reg[rf->n++].value = value;
}

/* Sets as the library packs them. */

#define NATTR 3
struct pack {
	struct cpc_pack head;
	struct cpc_packreq req[REGS_NREQ];
	struct cpc_packattr attr[REGS_NREQ * NATTR];
};

static const struct regs_model *model;
static const struct pcbe_ops *ops;

static unsigned
parse_attrs(const char *text, struct cpc_packattr *attr)
{
	unsigned n = 0;
	const char *eq;
	char *end;

	for (; *text != '\0'; n++) {
		eq = strchr(text, '=');
		assert_true(eq != NULL && n < NATTR);
		attr[n] = (struct cpc_packattr){ .cpa_id = named_attr(ops, text,
						     (size_t)(eq - text)) };
		attr[n].cpa_value = strtoull(eq + 1, &end, 0);
		text = *end == ',' ? end + 1 : end;
	}
	return n;
}

/* Set request i, whose attributes are the next.  bad: no PMU has its event. */
static void
set_request(struct pack *p, unsigned i, const char *text, bool bad)
{
	struct cpc_packreq *pr = &p->req[i];
	size_t len = strcspn(text, " ");
	char name[32];

	*pr = (struct cpc_packreq){ .cr_flags = CPC_COUNT_USER,
		.cr_picnum = -1,
		.cr_attr = p->head.cp_nattrs };
	if (*text == '!') {
		pr->cr_flags |= CPC_OVF_NOTIFY_EMT;
		text++;
		len--;
	}
	snprintf(name, sizeof name, "%.*s", (int)len, text);
	assert_int_not_equal(named_own(ops, name, &pr->cr_event), 0);
	if (bad)
		pr->cr_event.ce_code = ~0ULL;
	pr->cr_nattrs = parse_attrs(text + len + (text[len] != '\0'),
	    CPC_PACK_ATTRS(&p->head) + pr->cr_attr);
	p->head.cp_nattrs += pr->cr_nattrs;
}

static unsigned
nreqs(const char *const *set)
{
	unsigned n = 0;

	while (n < REGS_NREQ && set[n] != NULL)
		n++;
	return n;
}

/* The request number `bad` is refused; -1: none. */
static void
fill(struct pack *p, const char *const *set, unsigned type, int bad)
{
	static cpc_setid_t last;

	memset(p, 0, sizeof *p);
	p->head = (struct cpc_pack){ .cp_set = ++last,
		.cp_type = (uint16_t)type,
		.cp_nreqs = (uint16_t)nreqs(set) };
	for (unsigned i = 0; i < p->head.cp_nreqs; i++)
		set_request(p, i, set[i], (int)i == bad);
}

static int
call(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	return (int)-kcpc_syscall(args);
}

static struct cpc_refusal refusal;

static int
bind(const struct pack *p, uintptr_t target)
{
	return call(CPC_OP_BIND, (uintptr_t)p, p->head.cp_set, target,
	    (uintptr_t)&refusal);
}

static void
expect_bound(int err)
{
	if (err != 0)
		fail_msg("%s: errno %d, subcode %d: %s", model->rm_name, err,
		    refusal.cf_subcode, refusal.cf_why);
}

static void
release(const struct pack *p)
{
	assert_int_equal(call(CPC_OP_RELE, p->head.cp_set, 0, 0, 0), 0);
}

/* LWP 1 has the set and runs on CPU 0; LWP 2 and process 1 use another. */

static struct pack first, second;
static const char *const *other; /* the requests of the second set */
static unsigned type;            /* of both sets, or 0 */

/* A bind by LWP 2 is refused, at each request; it runs on this CPU. */
static void
refused_bind(void)
{
	for (unsigned i = 0; i < nreqs(other); i++) {
		fake_switch(0, 2);
		fill(&second, other, type, (int)i);
		assert_int_equal(bind(&second, 0), EINVAL);
		fake_switch(0, 1);
	}
}

/* The LWP's own bind is refused: it loses its set, and binds it again. */
static void
refused_own_bind(void)
{
	for (unsigned i = 0; i < nreqs(other); i++) {
		fill(&second, other, type, (int)i);
		assert_int_equal(bind(&second, 0), EINVAL);
	}
}

static void
other_lwp_here(void)
{
	fill(&second, other, type, -1);
	fake_switch(0, 2);
	assert_int_equal(bind(&second, 0), 0);
	fake_switch(0, 1);
	fake_switch(0, 2);
	release(&second);
	fake_switch(0, 1);
}

/* A controller binds to an LWP that rests, at last with success. */
static void
controller_binds(void)
{
	const uintptr_t target = CPC_TARGET(1, 1);

	fake_controlled = 1 << 1;
	for (int i = (int)nreqs(other) - 1; i >= -1; i--) {
		fill(&second, other, type, i);
		assert_int_equal(bind(&second, target), i >= 0 ? EINVAL : 0);
	}
	fake_switch(1, 1); /* it runs here, and rests again */
	fake_switch(0, 1);
	assert_int_equal(
	    call(CPC_OP_RELE, second.head.cp_set, 0, 0, target), 0);
}

/* LWP 2 binds to the other CPU, then this one: LWP 1 loses its counters. */
static void
cpu_binds(void)
{
	for (unsigned c = 0; c < 2; c++) {
		fake_switch(0, 2);
		for (int i = (int)nreqs(other) - 1; i >= -1; i--) {
			fill(&second, other, type, i);
			assert_int_equal(bind(&second, CPC_TARGET_CPU(1 - c)),
			    i >= 0 ? EINVAL : 0);
		}
		release(&second);
		fake_idle();
		fake_cpu(0);
		fake_switch(0, 1);
	}
}

/* Counters of this CPU that a descriptor takes. */
static void
shared_binds(void)
{
	struct file f = { .f_kind = FILE_CPC_SHARED };

	fake_switch(0, 2);
	*fake_bound(0, 2) = 0;
	assert_int_equal(kcpc_shared_open(&f), 0);
	fake_file = &f;
	for (int i = (int)nreqs(other) - 1; i >= -1; i--) {
		fill(&second, other, type, i);
		assert_int_equal(
		    bind(&second, CPC_TARGET_FD(FAKE_FD)), i >= 0 ? EINVAL : 0);
	}
	kcpc_shared_close(&f);
	fake_file = NULL;
	*fake_bound(0, 2) = -1;
	fake_switch(0, 1);
}

/* A new LWP inherits the set, on another CPU; another set takes its place. */
static void
inherits(void)
{
	assert_int_equal(fake_clone(3), 0);
	fake_cpu(1);
	fake_switch(0, 3);
	fill(&second, other, type, -1);
	assert_int_equal(bind(&second, 0), 0);
	release(&second);
	fake_exit(0, 3);
	fake_idle();
	fake_cpu(0);
}

/* A set of another core type, and back. */
static void
moves_to_the_other_type(void)
{
	if (type == 0)
		return;
	fill(&second, model->rm_set[1], 3 - type, -1);
	assert_int_equal(bind(&second, 0), 0);
	assert_int_not_equal(arch_curcpu()->c_id, 0);
	release(&second);
	fake_idle();
	fake_cpu(0);
	fake_switch(0, 1);
}

static void
freezes(void)
{
	assert_int_equal(call(CPC_OP_DISABLE, 0, 0, 0, 0), 0);
	other_lwp_here();
	assert_int_equal(call(CPC_OP_ENABLE, 0, 0, 0, 0), 0);
	assert_int_equal(call(CPC_OP_RESTART, 0, 0, 0, 0), 0);
}

static const struct {
	const char *name;
	void (*fn)(void);
} operations[] = {
	{ "a refused bind", refused_bind },
	{ "a refused bind of its own", refused_own_bind },
	{ "a set of another LWP", other_lwp_here },
	{ "a controller's binds", controller_binds },
	{ "binds to CPUs", cpu_binds },
	{ "shared counters", shared_binds },
	{ "a new LWP", inherits },
	{ "a set of the other core type", moves_to_the_other_type },
	{ "a freeze and a restart", freezes },
};
#define NOP (sizeof operations / sizeof operations[0])

static void
expect_equal(const struct regs_file *want, unsigned c, const char *what)
{
	struct regs_file got;

	regs_read(c, &got);
	for (unsigned i = 0; i < want->n || i < got.n; i++) {
		if (i < want->n && i < got.n &&
		    strcmp(want->reg[i].name, got.reg[i].name) == 0 &&
		    want->reg[i].value == got.reg[i].value)
			continue;
		fail_msg("%s, %s%s, CPU %u: %s is %#llx, not %s %#llx",
		    model->rm_name, what, type != 0 ? ", of a core type" : "",
		    c, i < got.n ? got.reg[i].name : "nothing",
		    i < got.n ? (unsigned long long)got.reg[i].value : 0,
		    i < want->n ? want->reg[i].name : "nothing",
		    i < want->n ? (unsigned long long)want->reg[i].value : 0);
	}
}

/* LWP 1 has lost its set, or has it still. */
static void
bind_again(void)
{
	const struct kcpc_ctx *ctx = fake_ctx(0, 1);

	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_INVALID) != 0)
		assert_int_equal(bind(&first, CPC_BIND_LWP_INHERIT), 0);
}

static void
no_signal(struct lwp *l)
{
}

/* Without a set all PICs rest: the file has the same registers each time. */
static void
try_operation(const char *const sets[2][REGS_NREQ], unsigned op)
{
	struct regs_file running, resting;
	const char *left;

	ops = fake_backend;
	other = sets[1];
	fake_boot();
	kcpc_set_notify(no_signal);
	regs_read(0, &resting);
	fill(&first, sets[0], type, -1);
	expect_bound(bind(&first, CPC_BIND_LWP_INHERIT));
	assert_int_equal(arch_curcpu()->c_id, 0);
	regs_read(0, &running);
	assert_true(running.n > resting.n);

	operations[op].fn();
	assert_int_equal(arch_curcpu()->c_id, 0);
	assert_int_equal(lwp_self()->l_id, 1);
	bind_again();
	expect_equal(&running, 0, operations[op].name);

	/* The same on the next CPU, where the other set may have been. */
	fake_idle();
	expect_equal(&resting, 0, operations[op].name);
	fake_cpu(1);
	fake_switch(0, 1);
	expect_equal(&running, 1, operations[op].name);
	fake_idle();
	if ((left = fake_halt()) != NULL)
		fail_msg("%s leaves %s", operations[op].name, left);
}

static const struct pcbe_ops *
boot(unsigned m)
{
	const struct pcbe_ops *found = NULL;

	regs_reset(m);
	for (unsigned c = FAKE_NCPU; c-- > 0;)
		cpus[c].c_id = c;
	for (unsigned c = 0; c < FAKE_NCPU; c++) {
		fake_cpu(c);
		found = regs_init_cpu(m);
	}
	return found;
}

TEST(registers_are_as_before)
{
	unsigned tried = 0;

	fake_on_cpu = regs_on_cpu;
	for (unsigned m = 0; m < regs_nmodel; m++) {
		model = &regs_models[m];
		for (unsigned op = 0; op < 2 * NOP; op++) {
			type = op / NOP;
			if (type != 0 && model->rm_typed[0][0] == NULL)
				continue;
			fake_backend = boot(m);
			try_operation(
			    type == 0 ? model->rm_set : model->rm_typed,
			    op % NOP);
			tried++;
		}
	}
	printf("# %u operations on %u PMUs\n", tried, regs_nmodel);
}
