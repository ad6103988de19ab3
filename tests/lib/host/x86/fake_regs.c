/* A CPU with lists of CPUID leaves and of model-specific registers. */
#include "tests/lib/host/x86/fake_regs.h"

#include <stddef.h>
#include <stdlib.h>

#include "arch/x86/x86.h"
#include "kern/platform/errno.h"

struct x86_features x86_features;
unsigned fake_faults, fake_errors;
static struct fake_part self;

void
fake_part(const struct fake_part *part)
{
	self = *part;
	x86_features = part->features;
	fake_faults = fake_errors = 0;
}

struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	(void)subleaf;
	for (unsigned i = 0; i < FAKE_LEAVES; i++) {
		if (self.leaves[i].leaf == leaf)
			return self.leaves[i].regs;
	}
	return (struct cpuid_regs){ 0 };
}

static struct fake_reg *
find(uint32_t msr)
{
	for (unsigned i = 0; i < FAKE_REGS; i++) {
		if (self.regs[i].msr == msr)
			return &self.regs[i];
	}
	fake_faults++;
	return NULL;
}

struct fake_reg *
fake_reg(uint32_t msr)
{
	struct fake_reg *r = find(msr);

	if (r == NULL)
		abort();
	return r;
}

bool
fake_is_as_was(const struct fake_part *part)
{
	for (unsigned i = 0; i < FAKE_REGS; i++) {
		if (self.regs[i].value != part->regs[i].value)
			return false;
	}
	return true;
}

int
x86_rdmsr_safe(uint32_t msr, uint64_t *v)
{
	const struct fake_reg *r = find(msr);

	if (r == NULL)
		return EIO;
	*v = r->value;
	return 0;
}

int
x86_wrmsr_safe(uint32_t msr, uint64_t v)
{
	struct fake_reg *r = find(msr);

	if (r == NULL || (r->writable | r->clears) == 0)
		return EIO;
	r->value = (r->value & ~r->writable) | (v & r->writable);
	r->value &= v | ~r->clears;
	return 0;
}

unsigned
x86_mcheck_take(void)
{
	unsigned n = fake_errors;

	fake_errors = 0;
	return n;
}
