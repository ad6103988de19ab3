/*
 * The functions that mark regions.  They are in a file of their own, so that
 * region.c calls them as a program does.
 */
#include "payloads/region/region.h"

#include <errno.h>
#include <string.h>

#define NOT_BEGUN "has not begun in this LWP: begin it first"

/*
 * Every public function starts with this and ends with leave().  In between
 * nothing is counted.  Returns the region of the calling LWP, or NULL without
 * memory.
 */
static struct region *
enter(struct region_lwp **lwp, const char *name)
{
	struct region_lwp *rl = region_own;

	if (rl == NULL)
		rl = region_first_time();
	else
		region_pause(rl);
	*lwp = rl;
	return rl != NULL ? region_make(rl, name) : NULL;
}

static int
leave(struct region_lwp *rl, int result)
{
	if (rl == NULL) {
		errno = ENOMEM;
		return -1;
	}
	if (rl->rl_err != 0) {
		errno = rl->rl_err;
		result = -1;
	}
	region_resume(rl);
	return result;
}

static int
no_memory(void)
{
	errno = ENOMEM;
	return -1;
}

/* Both ends of a region run the same code, so both cost the same. */
static int
mark(const char *name, bool begins)
{
	struct region_lwp *rl;
	struct region *rg = enter(&rl, name);

	if (rg == NULL)
		return leave(rl, no_memory());
	if (region_all.ra_reported)
		return leave(rl, region_refuse(rg, name,
				     "comes after the results, and is not "
				     "counted: mark it before the close"));
	if (rg->rg_begun == begins)
		return leave(rl, region_refuse(rg, name,
				     begins ? "has begun already: end it first"
					    : NOT_BEGUN));
	rg->rg_begun = begins;
	rg->rg_lost |= rl->rl_lost;
	if (begins) {
		rg->rg_known = true;
		rg->rg_begin = rl->rl_now;
	} else {
		region_sum_up(rl, rg);
		rg->rg_times++;
	}
	return leave(rl, 0);
}

int
region_begin(const char *name)
{
	return mark(name, true);
}

int
region_end(const char *name)
{
	return mark(name, false);
}

int
region_register(const char *name)
{
	struct region_lwp *rl;
	struct region *rg = enter(&rl, name);

	if (rg == NULL)
		return leave(rl, no_memory());
	rg->rg_known = true;
	return leave(rl, 0);
}

int
region_read(const char *name, struct region_sums *rs)
{
	struct region_lwp *rl;
	struct region *rg = enter(&rl, name);

	if (rg == NULL)
		return leave(rl, no_memory());
	if (!rg->rg_known)
		return leave(rl, region_refuse(rg, name, NOT_BEGUN));
	if (rg->rg_begun)
		region_sum_up(rl, rg);
	rs->rs_nevent = region_all.ra_options.o_nevent;
	for (unsigned i = 0; i < rs->rs_nevent; i++) {
		int index = rl->rl_event[i].rev_index;

		rs->rs_count[i] = index >= 0 ? rg->rg_sum.rct_event[index] : -1;
	}
	rs->rs_hrtime = rg->rg_sum.rct_hrtime;
	rs->rs_times = rg->rg_times;
	return leave(rl, 0);
}

int
region_reset(const char *name)
{
	struct region_lwp *rl;
	struct region *rg = enter(&rl, name);

	if (rg == NULL)
		return leave(rl, no_memory());
	if (!rg->rg_known)
		return leave(rl, region_refuse(rg, name, NOT_BEGUN));
	memset(&rg->rg_sum, 0, sizeof rg->rg_sum);
	rg->rg_begin = rl->rl_now;
	rg->rg_times = 0;
	return leave(rl, 0);
}
