/* Sets of vpmu: which event each PIC counts, and counts under a bound set. */
#include "payloads/vpmu/vpmu.h"

#include <errno.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

struct vpmu vpmu;

/* Add a request for the event on the PIC; returns its index or -1. */
static int
add_request(cpc_set_t *set, const char *event, unsigned pic, uint_t flags,
    uint64_t preset)
{
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };

	cpc_error_forget();
	return cpc_set_add_request(
	    vpmu.v_cpc, set, event, preset, flags, 1, &attr);
}

static bool
pic_binds(const char *event, unsigned pic)
{
	cpc_set_t *set = fail_unless_room(cpc_set_create(vpmu.v_cpc));
	bool binds = add_request(set, event, pic, vpmu.v_own, 0) != -1 &&
	             cpc_bind_curlwp(vpmu.v_cpc, set, 0) == 0;

	if (!binds && errno == EAGAIN)
		exit(report_nothing(cpc_error_text()));
	cpc_set_destroy(vpmu.v_cpc, set);
	return binds;
}

/* Keep the first event that the PIC can count. */
static void
choose_listed(void *arg, uint_t pic, const char *event)
{
	struct vpmu_pic *vp = arg;

	if (vp->vp_event == NULL && pic_binds(event, pic))
		vp->vp_event = fail_unless_room(strdup(event));
}

/*
 * Instructions if the PIC can count them, because they are known exactly.  A
 * fixed PIC may count something else; its list has that event only.
 */
static void
choose_event(unsigned pic)
{
	static const char *const events[] = { "PAPI_tot_ins", "PAPI_tot_cyc" };
	struct vpmu_pic *vp = &vpmu.v_pic[pic];

	for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++) {
		if (!pic_binds(events[i], pic))
			continue;
		vp->vp_event = events[i];
		vp->vp_exact = i == 0;
		return;
	}
	if (vp->vp_fixed)
		cpc_walk_events_pic(vpmu.v_cpc, pic, vp, choose_listed);
}

/* The PIC's object in /dev/machine, as kcpc_describe() writes it. */
static void
read_pic(const char *machine, unsigned pic)
{
	struct vpmu_pic *vp = &vpmu.v_pic[pic];
	char key[24];
	const char *s, *end;

	snprintf(key, sizeof key, "{\"pic\":%u,", pic);
	if ((s = strstr(machine, key)) == NULL ||
	    (end = strchr(s, '}')) == NULL)
		return;
	if ((s = strstr(s, "\"width\":")) != NULL && s < end)
		vp->vp_width = (unsigned)strtoul(s + 8, NULL, 10);
	vp->vp_offered = true;
	if (s == NULL || (s = strstr(s, "\"unproved\":\"")) == NULL || s > end)
		return;
	vp->vp_offered = false;
	s += strlen("\"unproved\":\"");
	snprintf(vp->vp_unproved, sizeof vp->vp_unproved, "%.*s",
	    (int)strcspn(s, "\""), s);
}

void
vpmu_open(void)
{
	const char *machine = json_machine();

	cpc_error_keep(vpmu.v_cpc);
	cpc_syscall(CPC_OP_PMU, (uintptr_t)&vpmu.v_pmu, 0, 0, 0);
	vpmu.v_npic = cpc_npic(vpmu.v_cpc);
	if (vpmu.v_npic > VPMU_PICS)
		vpmu.v_npic = VPMU_PICS;
	vpmu.v_system = payload_privilege() == PAYLOAD_SYSTEM;
	vpmu.v_own = vpmu.v_system ? CPC_COUNT_SYSTEM : CPC_COUNT_USER;
	for (unsigned pic = 0; pic < vpmu.v_npic; pic++) {
		read_pic(machine, pic);
		vpmu.v_pic[pic].vp_fixed =
		    pic < 32 && (vpmu.v_pmu.pm_general >> pic & 1) == 0;
		if (vpmu.v_pic[pic].vp_offered)
			choose_event(pic);
	}
}

const char *
measure_refusal(void)
{
	return cpc_error_text();
}

void
measure_init(struct measure *m)
{
	*m = (struct measure){ .vm_set = fail_unless_room(
				   cpc_set_create(vpmu.v_cpc)) };
}

bool
measure_add(struct measure *m, unsigned pic, uint_t flags, uint64_t preset)
{
	const char *event = vpmu.v_pic[pic].vp_event;

	if (add_request(m->vm_set, event, pic, flags, preset) == -1) {
		point_fail("%s on PIC %u: %s", event, pic, cpc_error_text());
		return false;
	}
	m->vm_n++;
	return true;
}

void
measure_buffers(struct measure *m)
{
	m->vm_before = cpc_buf_create(vpmu.v_cpc, m->vm_set);
	m->vm_after = cpc_buf_create(vpmu.v_cpc, m->vm_set);
	cpc_error_forget();
}

bool
measure_bind(struct measure *m)
{
	measure_buffers(m);
	if (cpc_bind_curlwp(vpmu.v_cpc, m->vm_set, 0) == 0)
		return true;
	point_fail("bind: %s", cpc_error_text());
	return false;
}

bool
measure_open(struct measure *m, unsigned pic, uint_t flags, uint64_t preset)
{
	measure_init(m);
	if (measure_add(m, pic, flags, preset) && measure_bind(m))
		return true;
	measure_close(m);
	return false;
}

bool
measure_open_all(struct measure *m)
{
	measure_init(m);
	for (unsigned pic = 0; pic < vpmu.v_npic; pic++) {
		if (vpmu.v_pic[pic].vp_event != NULL &&
		    !measure_add(m, pic, vpmu.v_own, 0))
			break;
	}
	if (m->vm_n != 0 && measure_bind(m))
		return true;
	measure_close(m);
	return false;
}

void
measure_close(struct measure *m)
{
	if (m->vm_before != NULL) {
		cpc_buf_destroy(vpmu.v_cpc, m->vm_before);
		cpc_buf_destroy(vpmu.v_cpc, m->vm_after);
	}
	cpc_set_destroy(vpmu.v_cpc, m->vm_set);
}

bool
measure_add_code(struct measure *m, int pic, const char *code, uint64_t umask,
    uint64_t cmask)
{
	char umask_name[] = "umask", cmask_name[] = "cmask";
	char pic_name[] = "picnum";
	cpc_attr_t attrs[3];
	uint_t n = 0;

	if (pic != ANY_PIC)
		attrs[n++] = (cpc_attr_t){ pic_name, (uint64_t)pic };
	if (umask != 0)
		attrs[n++] = (cpc_attr_t){ umask_name, umask };
	if (cmask != 0)
		attrs[n++] = (cpc_attr_t){ cmask_name, cmask };
	cpc_error_forget();
	if (cpc_set_add_request(
		vpmu.v_cpc, m->vm_set, code, 0, vpmu.v_own, n, attrs) == -1)
		return false;
	m->vm_n++;
	return true;
}

bool
measure_open_code(struct measure *m, int pic, const char *code, uint64_t umask,
    uint64_t cmask)
{
	measure_init(m);
	if (measure_add_code(m, pic, code, umask, cmask)) {
		measure_buffers(m);
		if (cpc_bind_curlwp(vpmu.v_cpc, m->vm_set, 0) == 0)
			return true;
	}
	measure_close(m);
	return false;
}

uint64_t
measure_sample(struct measure *m, int index)
{
	uint64_t value = 0;

	if (cpc_set_sample(vpmu.v_cpc, m->vm_set, m->vm_after) != 0)
		point_fail("sample: %s", strerror(errno));
	cpc_buf_get(vpmu.v_cpc, m->vm_after, index, &value);
	return value;
}

/* The count around body(n), once. */
static int64_t
count_once(struct measure *m, void (*body)(uint64_t), uint64_t n)
{
	uint64_t before = 0, after = 0;

	if (cpc_set_sample(vpmu.v_cpc, m->vm_set, m->vm_before) != 0)
		point_fail("sample: %s", strerror(errno));
	body(n);
	if (cpc_set_sample(vpmu.v_cpc, m->vm_set, m->vm_after) != 0)
		point_fail("sample: %s", strerror(errno));
	cpc_buf_get(vpmu.v_cpc, m->vm_before, 0, &before);
	cpc_buf_get(vpmu.v_cpc, m->vm_after, 0, &after);
	return (int64_t)(after - before);
}

int64_t
measure_least(struct measure *m, void (*body)(uint64_t), uint64_t n)
{
	int64_t least = INT64_MAX, count;

	count_once(m, body, n);
	for (unsigned i = 0; i < vpmu.v_runs; i++) {
		count = count_once(m, body, n);
		least = count < least ? count : least;
	}
	return least;
}

int64_t
measure_difference(struct measure *m, void (*body)(uint64_t))
{
	int64_t longer = measure_least(m, body, LONG_LOOP);

	return longer - measure_least(m, body, SHORT_LOOP);
}
