/* Kernel statistics: the module cpu_info.  <kstat.h>. */
#include <kstat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/time.h>

#define NDATA 3

static kstat_t *
make_cpu(processorid_t cpu)
{
	kstat_t *ks = calloc(1, sizeof *ks);

	if (ks == NULL)
		return NULL;
	ks->ks_kid = cpu + 1;
	ks->ks_instance = cpu;
	ks->ks_type = KSTAT_TYPE_NAMED;
	strcpy(ks->ks_module, "cpu_info");
	strcpy(ks->ks_class, "misc");
	snprintf(ks->ks_name, sizeof ks->ks_name, "cpu_info%d", cpu);
	return ks;
}

kstat_ctl_t *
kstat_open(void)
{
	kstat_ctl_t *kc = calloc(1, sizeof *kc);
	int saved = errno;

	if (kc == NULL)
		return NULL;
	kc->kc_kd = -1;
	kstat_t **at = &kc->kc_chain;
	for (processorid_t cpu = 0; p_online(cpu, P_STATUS) != -1; cpu++) {
		if ((*at = make_cpu(cpu)) == NULL) {
			kstat_close(kc);
			errno = ENOMEM;
			return NULL;
		}
		at = &(*at)->ks_next;
	}
	errno = saved;
	return kc;
}

int
kstat_close(kstat_ctl_t *kc)
{
	kstat_t *next;

	for (kstat_t *ks = kc->kc_chain; ks != NULL; ks = next) {
		next = ks->ks_next;
		free(ks->ks_data);
		free(ks);
	}
	free(kc);
	return 0;
}

kid_t
kstat_chain_update(kstat_ctl_t *)
{
	return 0;
}

kstat_t *
kstat_lookup(
    kstat_ctl_t *kc, const char *module, int instance, const char *name)
{
	kstat_t *ks = kc->kc_chain;

	while (ks != NULL &&
	       ((module != NULL && strcmp(module, ks->ks_module) != 0) ||
		   (instance != -1 && instance != ks->ks_instance) ||
		   (name != NULL && strcmp(name, ks->ks_name) != 0)))
		ks = ks->ks_next;
	if (ks == NULL)
		errno = ENOENT;
	return ks;
}

static void
set_string(kstat_named_t *kn, const char *name, const char *text)
{
	strcpy(kn->name, name);
	kn->data_type = KSTAT_DATA_CHAR;
	snprintf(kn->value.c, sizeof kn->value.c, "%s", text);
}

kid_t
kstat_read(kstat_ctl_t *kc, kstat_t *ks, void *buf)
{
	processor_info_t info;
	kstat_named_t *kn;

	if (processor_info(ks->ks_instance, &info) == -1)
		return -1;
	if (ks->ks_data == NULL &&
	    (ks->ks_data = calloc(NDATA, sizeof *kn)) == NULL)
		return -1;
	kn = ks->ks_data;
	set_string(&kn[0], "state",
	    info.pi_state == P_ONLINE ? "on-line" : "off-line");
	set_string(&kn[1], "cpu_type", info.pi_processor_type);
	strcpy(kn[2].name, "clock_MHz");
	kn[2].data_type = KSTAT_DATA_INT32;
	kn[2].value.i32 = info.pi_clock;
	ks->ks_ndata = NDATA;
	ks->ks_data_size = NDATA * sizeof *kn;
	ks->ks_snaptime = gethrtime();
	if (buf != NULL)
		memcpy(buf, ks->ks_data, ks->ks_data_size);
	return kc->kc_chain_id;
}

void *
kstat_data_lookup(kstat_t *ks, const char *name)
{
	kstat_named_t *kn = ks->ks_data;

	for (uint_t i = 0; kn != NULL && i < ks->ks_ndata; i++) {
		if (strcmp(kn[i].name, name) == 0)
			return &kn[i];
	}
	errno = ENOENT;
	return NULL;
}
