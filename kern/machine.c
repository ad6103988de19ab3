/* The file /dev/machine describes the machine and its PMU, for records. */
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/file.h"
#include "kern/main.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/command/cmdline.h"
#include "kern/platform/errno.h"
#include "kern/platform/firmware/smbios.h"
#include "kern/platform/firmware/watchdog.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

#define TEXT_MAX 16384

static struct {
	const char *via;
	const struct cmdline *cmdline;
} boot;

/* The words host.NAME=VALUE as the member "host". */
static void
describe_host(struct text *t, const struct cmdline *cl)
{
	text_add(t, "\"host\":{");
	for (unsigned i = 0; i < cl->cl_nhost; i++) {
		const char *fact = cl->cl_host[i], *eq = strchr(fact, '=');

		text_add(t, "%s\"%.*s\":", i != 0 ? "," : "", (int)(eq - fact),
		    fact);
		text_add_string(t, eq + 1);
	}
	text_add(t, "},");
}

/* The text of /dev/machine: JSON members on one line, without braces. */
static int
text_open(struct file *f)
{
	struct text t = { kmalloc(TEXT_MAX), TEXT_MAX, 0 };
	const struct cmdline *cl = boot.cmdline;

	if (t.t_buf == NULL)
		return ENOMEM;
	text_add(&t,
	    "\"arch\":\"%s\",\"boot\":\"%s\",\"priv\":\"%s\",\"cpus\":%u,"
	    "\"tick_hz\":%lu,\"stray_nmis\":%u,",
	    arch_name, boot.via, cl->cl_system ? "system" : "user",
	    cpu_nonline(), (unsigned long)arch_tick_hz(), cpu_stray_nmis());
	/* populate.c: only MAP_CONTIG has large pages. */
	text_add(&t, "\"page_bytes\":{\"code\":%lu,\"data\":%lu},", PAGE_SIZE,
	    PAGE_SIZE);
	if (launch_spin_failed)
		text_add(&t, "\"spin_failed\":true,");
	describe_host(&t, cl);
	quiet_describe(&t);
	smbios_describe(&t);
	watchdog_describe(&t);
	arch_describe(&t);
	text_add(&t, ",");
	kcpc_describe(&t);
	text_add(&t, "\n");
	ASSERT(t.t_len < TEXT_MAX);
	f->f_data = t.t_buf;
	f->f_bytes = t.t_len;
	return 0;
}

void
text_release(struct file *f)
{
	kfree((void *)(uintptr_t)f->f_data);
}

void
machine_init(const struct bootinfo *bi, const struct cmdline *cl)
{
	static const char *const via[] = {
		[BOOT_PVH] = "pvh",
		[BOOT_LINUX_IMAGE] = "linux-image",
		[BOOT_UEFI] = "uefi",
	};
	static const struct device_ops ops = { text_open, text_release };

	file_register(FILE_MACHINE, &ops);
	boot.via = bi->bi_via >= BOOT_PVH && bi->bi_via <= BOOT_UEFI
	               ? via[bi->bi_via]
	               : "unknown";
	boot.cmdline = cl;
}
