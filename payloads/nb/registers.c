/* Events of -msr_config: registers to write, and one that counts. */
#include <stdio.h>

#include "payloads/nb/nb.h"

void
nb_registers_restore(struct nb_registers *g)
{
	while (g->nbg_n > 0)
		nb_msr_write(&g->nbg_old[--g->nbg_n]);
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
	struct nb_msr counter = e->nbe_msr[0];
	unsigned i = 1;

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
