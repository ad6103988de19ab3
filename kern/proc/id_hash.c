/*
 * Finds processes and LWPs by number, in two hash tables.  Numbers are given in
 * sequence and never reused, so they spread evenly over the tables.
 */
#include <stddef.h>

#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"

#define NHASH 1024

static struct proc *procs[NHASH];
static struct lwp *lwps[NHASH];

int
pid_alloc(void)
{
	static int last;

	return ++last;
}

void
proc_hash_insert(struct proc *p)
{
	struct proc **head = &procs[(unsigned)p->p_pid % NHASH];

	p->p_hash_next = *head;
	p->p_hash_link = head;
	if (*head != NULL)
		(*head)->p_hash_link = &p->p_hash_next;
	*head = p;
}

void
proc_hash_remove(struct proc *p)
{
	*p->p_hash_link = p->p_hash_next;
	if (p->p_hash_next != NULL)
		p->p_hash_next->p_hash_link = p->p_hash_link;
}

struct proc *
proc_find_any(int id)
{
	struct proc *p = procs[(unsigned)id % NHASH];
	const struct lwp *l;

	while (p != NULL && p->p_pid != id)
		p = p->p_hash_next;
	if (p == NULL && (l = lwp_find(id)) != NULL)
		p = l->l_proc;
	return p;
}

struct proc *
proc_find(int pid)
{
	struct proc *p = proc_find_any(pid);

	return p != NULL && p->p_pid == pid && !p->p_done ? p : NULL;
}

void
lwp_hash_insert(struct lwp *l, int tid)
{
	struct lwp **head = &lwps[(unsigned)tid % NHASH];

	l->l_tid = tid;
	l->l_hash_next = *head;
	l->l_hash_link = head;
	if (*head != NULL)
		(*head)->l_hash_link = &l->l_hash_next;
	*head = l;
}

void
lwp_hash_remove(struct lwp *l)
{
	*l->l_hash_link = l->l_hash_next;
	if (l->l_hash_next != NULL)
		l->l_hash_next->l_hash_link = l->l_hash_link;
}

struct lwp *
lwp_find(int tid)
{
	struct lwp *l = lwps[(unsigned)tid % NHASH];

	while (l != NULL && l->l_tid != tid)
		l = l->l_hash_next;
	return l;
}
