/* Leaves the counts of stat as records (docs/records.md). */
#include "payloads/stat/stat.h"

void
leave_record(
    const struct counted *c, const struct runs *runs, const struct series *ns)
{
	const struct options o = {
		.o_argc = st.argc,
		.o_argv = st.argv,
		.o_runs = st.runs,
	};
	struct result r = {
		.r_label = st.program[0],
		.r_event = &c->cnt_event,
		.r_code = -1,
		.r_pic = -1,
		.r_status = c->cnt_status,
		.r_reason = c->cnt_reason,
		.r_method = "none",
		.r_iterations = 1,
		.r_runs = runs,
		.r_verified = true,
		.r_looks = c->cnt_keys.ck_looks,
		.r_interrupted = c->cnt_keys.ck_cut,
	};

	if (c->cnt_count.s_used != 0) {
		r.r_status = COUNTED;
		r.r_count.q_raw = c->cnt_count;
	} else if (c->cnt_spoiled != 0) {
		r.r_status = NOT_COUNTED;
		r.r_reason = c->cnt_spoil;
	}
	if (ns != NULL && ns->s_used != 0)
		r.r_hrtime.q_raw = *ns;
	report_record(&o, &r);
}
