/* Functions that a machine inlines; kern/arch.h includes this in host tests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct trapframe;

struct cpu *arch_curcpu(void);
uint64_t arch_tick(void);
uintptr_t tf_pc(const struct trapframe *tf);
uintptr_t tf_sp(const struct trapframe *tf);
bool tf_user(const struct trapframe *tf);
void arch_pmi_rearm(void);
