/*
 * The model's state as its operations move it.  Included by
 * tests/host/kern/cpc/explore/model.c and explore_state.c.
 */
#ifndef TESTS_HOST_KERN_CPC_EXPLORE_STATE_H
#define TESTS_HOST_KERN_CPC_EXPLORE_STATE_H

#include "tests/host/kern/cpc/explore/explore.h"

/* Requests of the context's set. */
unsigned ex_nreqs(const struct ex_ctx *c);
/* The LWP's PICs stop, if they count for it. */
void ex_stop_lwp(struct ex_model *m, unsigned lwp);
/* Release the context of an LWP, of a CPU, or all of a process's set. */
void ex_drop(struct ex_model *m, unsigned lwp);
void ex_drop_cpu(struct ex_model *m, unsigned cpu);
void ex_revoke(struct ex_model *m, unsigned proc, unsigned set);
/* What the LWP has: its own context, and those of CPUs it bound. */
void ex_drop_all(struct ex_model *m, unsigned lwp);
/* Has the CPU a set of that process bound, this one? */
bool ex_cpu_has(
    const struct ex_model *m, unsigned cpu, unsigned proc, unsigned set);
/* The CPU has nobody to run, or another. */
void ex_leave(struct ex_model *m, struct ex_cpu *cpu);
void ex_run(struct ex_model *m, unsigned cpu, unsigned lwp);
/* The LWP, which runs, is on that CPU now. */
void ex_go(struct ex_model *m, unsigned cpu, unsigned lwp);
/* 0 or an errno. */
int ex_bind_set(struct ex_model *m, unsigned lwp, unsigned set, bool inherit);
int ex_bind_to_cpu(
    struct ex_model *m, unsigned lwp, unsigned cpu, unsigned set);
/* The last LWP begins, with what it inherits. */
void ex_clone(struct ex_model *m, const struct ex_lwp *parent);
/* It begins in a process of its own, with nothing. */
void ex_fork(struct ex_model *m, const struct ex_lwp *parent);
/* Instructions at a privilege, CPC_COUNT_*. */
void ex_retire(struct ex_model *m, unsigned cpu, unsigned privilege);
/* See to overflows; does a timer see to that? */
void ex_look(struct ex_model *m, unsigned cpu);
bool ex_has_timer(struct ex_model *m, unsigned cpu);

#endif /* TESTS_HOST_KERN_CPC_EXPLORE_STATE_H */
