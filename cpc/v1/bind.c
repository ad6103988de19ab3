/* Version 1: the event of the calling LWP. */
#include "cpc/v1/v1.h"

#include <errno.h>

int
cpci_v1_result(intptr_t r)
{
	if (r == 0)
		return 0;
	errno = r == -ENOSYS ? ENXIO : (int)-r;
	return -1;
}

int
cpci_v1_pack(const cpc_event_t *event, uint32_t flags, struct v1_pack *pack)
{
	struct v1_cpu cpu = cpci_v1_cpu();

	if (cpu.vc_ver == -1)
		return ENXIO;
	if (event == NULL || event->ce_cpuver != cpu.vc_ver)
		return EINVAL;
	pack->vk_head = (struct cpc_pack){
		.cp_set = V1_SET,
		.cp_nreqs = 2,
	};
	for (int i = 0; i < 2; i++)
		pack->vk_req[i] = (struct cpc_packreq){
			.cr_event = {
				.ce_pics = 1U << cpu.vc_pic[i],
				.ce_code = cpci_v1_code(cpu.vc_kind,
				    event->ce_pes[i]),
			},
			.cr_preset = event->ce_pic[i],
			.cr_flags = flags | cpci_v1_flags(event->ce_pes[i]),
			.cr_picnum = cpu.vc_pic[i],
		};
	return 0;
}

int
cpc_bind_event(cpc_event_t *event, int flags)
{
	bool notify = (flags & CPC_BIND_EMT_OVF) != 0;
	struct v1_pack pack;
	struct cpc_refusal rf;

	if (event == NULL)
		return cpc_rele();
	int err = cpci_v1_pack(event, notify ? CPC_OVF_NOTIFY_EMT : 0, &pack);
	if (err == 0 && (flags & ~(CPC_BIND_LWP_INHERIT | CPC_BIND_EMT_OVF)))
		err = EINVAL;
	if (err != 0)
		return cpci_v1_result(-err);
	return cpci_v1_result(cpc_syscall(CPC_OP_BIND, (uintptr_t)&pack, V1_SET,
	    (uintptr_t)(flags & CPC_BIND_LWP_INHERIT), (uintptr_t)&rf));
}

int
cpc_rele(void)
{
	intptr_t r = cpc_syscall(CPC_OP_RELE, V1_SET, 0, 0, 0);

	return r == -EINVAL || r == -ENOSYS ? 0 : cpci_v1_result(r);
}

/*
 * Set the words of the bound event: the kernel knows them also if the LWP
 * inherited the event.  *flags becomes the flags of the bind.
 */
static intptr_t
fill_words(cpc_setid_t set, uintptr_t target, cpc_event_t *event, int *flags)
{
	struct v1_cpu cpu = cpci_v1_cpu();
	struct cpc_where w;
	intptr_t r;

	for (unsigned i = 0; i < 2; i++) {
		r = cpc_syscall(CPC_OP_WHERE, set, i, (uintptr_t)&w, target);
		if (r != 0)
			return r;
		event->ce_pes[i] =
		    cpci_v1_word_of(cpu.vc_kind, w.cw_code, w.cw_flags);
		*flags = w.cw_bind;
		if ((w.cw_flags & CPC_OVF_NOTIFY_EMT) != 0)
			*flags |= CPC_BIND_EMT_OVF;
	}
	event->ce_cpuver = cpu.vc_ver;
	return 0;
}

int
cpci_v1_sample(
    cpc_setid_t set, uintptr_t target, cpc_event_t *event, int *flags)
{
	cpc_event_t now = { .ce_cpuver = 0 };
	struct {
		struct cpc_sample head;
		uint64_t value[2];
	} s;

	if (event == NULL)
		return cpci_v1_result(-EINVAL);
	intptr_t r = cpc_syscall(CPC_OP_SAMPLE, set, (uintptr_t)&s, 2, target);
	if (r == 0)
		r = fill_words(set, target, &now, flags);
	if (r == 0) {
		now.ce_hrt = s.head.cs_hrtime;
		now.ce_tsc = s.head.cs_tick;
		now.ce_pic[0] = s.value[0];
		now.ce_pic[1] = s.value[1];
		*event = now;
	}
	return cpci_v1_result(r);
}

int
cpc_take_sample(cpc_event_t *event)
{
	int flags;

	return cpci_v1_sample(V1_SET, CPC_TARGET_SELF, event, &flags);
}

/* Set or clear the level in both words.  The values continue. */
static int
count_level(uint32_t level, int enable)
{
	cpc_event_t event;
	int flags;

	/* A controller may have bound an event or a set to this LWP. */
	intptr_t r = cpc_syscall(CPC_OP_LEVEL,
	    level == V1_USR ? CPC_COUNT_USER : CPC_COUNT_SYSTEM, enable != 0, 0,
	    0);
	if (r != -EINVAL)
		return cpci_v1_result(r);
	/* The first sample says whether the LWP's context is an event. */
	if (cpci_v1_sample(V1_SET, CPC_TARGET_SELF, &event, &flags) != 0)
		return -1;
	cpc_syscall(CPC_OP_DISABLE, 0, 0, 0, 0); /* it may be frozen already */
	if (cpci_v1_sample(V1_SET, CPC_TARGET_SELF, &event, &flags) != 0)
		return -1;
	for (int i = 0; i < 2; i++)
		event.ce_pes[i] =
		    enable ? event.ce_pes[i] | level : event.ce_pes[i] & ~level;
	return cpc_bind_event(&event, flags);
}

int
cpc_count_usr_events(int enable)
{
	return count_level(V1_USR, enable);
}

int
cpc_count_sys_events(int enable)
{
	return count_level(V1_OS, enable);
}
