/* The basic operations on the state, for model.c and state.c. */
#pragma once

#include "tests/host/kern/cpc/explore/explore.h"

/* The number of requests in the context's set. */
unsigned ex_nreqs(const struct ex_ctx *c);
/* Stop the PICs if they count for this LWP. */
void ex_stop_lwp(struct ex_model *m, unsigned lwp);
/* Release the context of an LWP, of a CPU, or of every instance of a set. */
void ex_drop(struct ex_model *m, unsigned lwp);
void ex_drop_cpu(struct ex_model *m, unsigned cpu);
void ex_revoke(struct ex_model *m, unsigned proc, unsigned set);
/* Release the LWP's own context and those of the CPUs it bound. */
void ex_drop_all(struct ex_model *m, unsigned lwp);
/* Is this set of this process bound to the CPU? */
bool ex_cpu_has(
    const struct ex_model *m, unsigned cpu, unsigned proc, unsigned set);
/* The CPU becomes idle, or runs an LWP. */
void ex_leave(struct ex_model *m, struct ex_cpu *cpu);
void ex_run(struct ex_model *m, unsigned cpu, unsigned lwp);
/* Move an LWP that runs to this CPU. */
void ex_go(struct ex_model *m, unsigned cpu, unsigned lwp);
/* Returns 0 or an errno. */
int ex_bind_set(struct ex_model *m, unsigned lwp, unsigned set, bool inherit);
int ex_bind_to_cpu(
    struct ex_model *m, unsigned lwp, unsigned cpu, unsigned set);
/* Create the last LWP, which inherits the parent's context. */
void ex_clone(struct ex_model *m, const struct ex_lwp *parent);
/* Create the last LWP in another process, without a context. */
void ex_fork(struct ex_model *m, const struct ex_lwp *parent);
/* Retire instructions at a privilege, CPC_COUNT_*. */
void ex_retire(struct ex_model *m, unsigned cpu, unsigned privilege);
/* Fold overflows; does a timer of this CPU do that? */
void ex_look(struct ex_model *m, unsigned cpu);
/* An overflow interrupt: the same, and it may find no overflow. */
void ex_interrupt(struct ex_model *m, unsigned cpu);
bool ex_has_timer(struct ex_model *m, unsigned cpu);
