/* Events of -msr_config: registers to write, and one that counts. */
#include <stdio.h>
#include <stdlib.h>

#include "payloads/nb/nb.h"

static struct nb_registers *in_force; /* NULL: none is changed */

void
nb_registers_restore(struct nb_registers *g)
{
	while (g->nbg_n > 0)
		nb_msr_write(&g->nbg_old[--g->nbg_n]);
	in_force = NULL;
}

/* The program ends while code runs, because that faults. */
static void
restore_at_exit(void)
{
	if (in_force != NULL)
		nb_registers_restore(in_force);
}

/* Write one, and keep its old value. */
static bool
replace(struct nb_registers *g, const struct nb_msr *m)
{
	struct nb_msr *old = &g->nbg_old[g->nbg_n];

	*old = *m;
	if (!nb_msr_read(old) || !nb_msr_write(m))
		return false;
	g->nbg_n++;
	return true;
}

bool
nb_registers_set(
    struct nb_registers *g, const struct nb_event *e, char *reason, size_t len)
{
	static bool ends_clean;
	struct nb_msr counter = e->nbe_msr[0];
	unsigned i = 1;

	if (!ends_clean)
		ends_clean = atexit(restore_at_exit) == 0;
	in_force = g;
	while (i < e->nbe_nmsrs && replace(g, &e->nbe_msr[i]))
		i++;
	if (i == e->nbe_nmsrs && nb_msr_read(&counter))
		return true;
	if (i == e->nbe_nmsrs)
		snprintf(reason, len, "%s: this CPU has no msr_0x%x",
		    e->nbe_name, counter.nbm_register);
	else
		snprintf(reason, len,
		    "%s: this CPU has no msr_0x%x, or refuses its value",
		    e->nbe_name, e->nbe_msr[i].nbm_register);
	nb_registers_restore(g);
	return false;
}
