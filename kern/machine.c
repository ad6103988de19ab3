/*
 * The file /dev/machine: a description of the machine and of its PMU, for
 * result records.
 */
#include "kern/machine.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/cmdline.h"
#include "kern/platform/errno.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

#define TEXT_MAX 8192

static struct {
	const char *via;
	bool system;
	char host[CMDLINE_HOST_MAX * (CMDLINE_HOST_BYTES + 8)];
} boot;

/* The words host.NAME=VALUE as a JSON object. */
static void
describe_host(const struct cmdline *cl)
{
	size_t n = 0;

	for (unsigned i = 0; i < cl->cl_nhost; i++) {
		const char *fact = cl->cl_host[i], *eq = strchr(fact, '=');

		n += (size_t)snprintf(boot.host + n, sizeof boot.host - n,
		    "%s\"%.*s\":\"%s\"", n != 0 ? "," : "", (int)(eq - fact),
		    fact, eq + 1);
	}
}

/* The text of /dev/machine: JSON members on one line, without braces. */
static int
text_open(struct file *f)
{
	char *text = kmalloc(TEXT_MAX);
	size_t n;

	if (text == NULL)
		return ENOMEM;
	n = (size_t)snprintf(text, TEXT_MAX,
	    "\"arch\":\"%s\",\"boot\":\"%s\",\"priv\":\"%s\",\"cpus\":%u,"
	    "\"tick_hz\":%lu,\"stray_nmis\":%u,\"host\":{%s},",
	    arch_name, boot.via, boot.system ? "system" : "user", cpu_nonline(),
	    (unsigned long)arch_tick_hz(), cpu_stray_nmis(), boot.host);
	arch_describe(text + n, TEXT_MAX - n - 2);
	while (text[n] != '\0')
		n++;
	text[n++] = ',';
	n += (size_t)kcpc_describe(text + n, TEXT_MAX - n - 1);
	ASSERT(n + 1 < TEXT_MAX);
	text[n++] = '\n';
	f->f_data = text;
	f->f_bytes = n;
	return 0;
}

static void
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
	boot.system = cl->cl_system;
	describe_host(cl);
}
