/* Creates, runs and ends the processes of payloads. */
#include "kern/proc/proc.h"

#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/lookup.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/platform/run_end.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

/* The load bias of PIE programs, away from where others are linked. */
#define PIE_BASE 0x0000000040000000UL
/* That of their loaders, above any heap. */
#define LOADER_BASE 0x0000600000000000UL

struct proc *allprocs;

/* The first code, in the kernel, of a process's first LWP. */
static void
user_start(void *)
{
	struct lwp *l = lwp_self();

	boottime_first_payload();
	if (l->l_proc->p_exiting)
		lwp_exit();
	arch_lwp_reset(l, l->l_entry_pc, l->l_entry_sp);
	trap_return(arch_lwp_frame(l));
	arch_lwp_resume(l);
}

/* Fill *elf with the file e, if a file of this kind is there. */
static int
use_file(struct elf *elf, const struct archive_entry *e, uint64_t base,
    const char *absent, const char **why, char *buf, size_t buflen)
{
	const struct elf_limits lim = {
		.el_machine = arch_elf_machine,
		.el_base = USER_BASE,
		.el_top = REGION_TOP,
		.el_pie_base = base,
	};

	if (e == NULL) {
		*why = absent;
		return ENOENT;
	}
	if ((e->ae_mode & CPIO_S_IFMT) != CPIO_S_IFREG) {
		*why = "not a regular file";
		return EACCES;
	}
	*why = elf_check(e->ae_data, e->ae_bytes, &lim, elf, buf, buflen);
	return *why != NULL ? ENOEXEC : 0;
}

int
proc_use_program(struct proc *p, const struct archive_entry *e,
    const char **why, char *buf, size_t buflen)
{
	struct lookup lk;
	int err = use_file(&p->p_elf, e, PIE_BASE,
	    "no such program in the archives", why, buf, buflen);

	p->p_program = e;
	if (err != 0 || p->p_elf.e_interp == NULL)
		return err;
	snprintf(buf, buflen,
	    "a dynamic program, whose loader %.99s is not in the archives: "
	    "add it and the libraries",
	    p->p_elf.e_interp);
	err = use_file(&p->p_loader,
	    lookup(&lk, "", p->p_elf.e_interp, true) == 0 ? lk.lk_entry : NULL,
	    LOADER_BASE, buf, why, buf, buflen);
	if (err != 0 && err != ENOENT)
		*why = "a dynamic program, whose loader cannot be loaded";
	return err;
}

static int
proc_make(struct proc *p, char *const argv[], unsigned argc, char *const envv[],
    unsigned envc, const char **why, char *buf, size_t buflen)
{
	uintptr_t pc, sp;
	struct lwp *l;
	int err;

	p->p_umask = 022;
	for (unsigned i = 0; i < LIMITS; i++)
		p->p_limit[i] = (struct limit){ UINT64_MAX, UINT64_MAX };
	p->p_limit[LIMIT_CORE].li_soft = 0;
	p->p_limit[LIMIT_FILES] = (struct limit){ NFD, NFD };
	if ((err = proc_use_program(
		 p, archive_find(argv[0]), why, buf, buflen)) != 0)
		return err;
	*why = "out of memory";
	if ((p->p_as = as_new(p->p_system)) == NULL)
		return ENOMEM;
	if ((err = exec_load(p, argv[0], argv, argc, envv, envc, &pc, &sp, why,
		 buf, buflen)) != 0)
		goto free_as;
	*why = "out of memory";
	if ((err = file_init(p)) != 0)
		goto free_as;
	err = ENOMEM;
	if ((l = lwp_create(p, user_start, NULL)) == NULL)
		goto close_files;
	lwp_set_name(l, argv[0]);
	l->l_entry_pc = pc;
	l->l_entry_sp = sp;
	return 0;

close_files:
	file_close_all(p);
free_as:
	as_release(p->p_as);
	return err;
}

/* After "no such program": print a similar name, or all program names. */
static void
print_programs(const char *path)
{
	const char *nearest = archive_nearest(path);
	const struct archive_entry *e;
	char shown[PROC_NAME_MAX];
	size_t n;

	if (nearest != NULL) {
		strlcpy_shown(shown, nearest, sizeof shown);
		printf("; did you mean %s?", shown);
		return;
	}
	printf("; there are");
	for (e = archive_all(&n); n > 0; n--, e++) {
		if ((e->ae_mode & CPIO_S_IFMT) == CPIO_S_IFREG &&
		    (e->ae_mode & 0111) != 0) {
			strlcpy_shown(shown, e->ae_path, sizeof shown);
			printf(" %s", shown);
		}
	}
}

struct proc *
proc_create(char *const argv[], unsigned argc, char *const envv[],
    unsigned envc, bool system, bool cpc_cpu)
{
	struct proc *p = kmalloc(sizeof *p);
	const char *why = "out of memory";
	char buf[192], shown[PROC_NAME_MAX];
	int err = ENOMEM;

	strlcpy_shown(shown, argv[0], sizeof shown);
	if (p == NULL)
		goto failed;
	strlcpy(p->p_name, shown, sizeof p->p_name);
	p->p_system = system;
	p->p_cpc_cpu = cpc_cpu;
	p->p_pid = pid_alloc();
	err = proc_make(p, argv, argc, envv, envc, &why, buf, sizeof buf);
	if (err != 0)
		goto failed;
	p->p_next = allprocs;
	allprocs = p;
	proc_hash_insert(p);
	return p;

failed:
	printf("barecpc: %s: %s", shown, why);
	if (err == ENOENT && p->p_program == NULL)
		print_programs(argv[0]);
	printf("\n");
	kfree(p);
	return NULL;
}

static void
timed_out(void *arg)
{
	struct proc *p = arg;

	if (p->p_exiting)
		return;
	printf("barecpc: %s: timed out\n", p->p_name);
	proc_kill(p, EXIT_TIMEOUT);
}

void
proc_start(struct proc *p, unsigned timeout_s)
{
	if (timeout_s > 0)
		timer_start(&p->p_timeout,
		    arch_tick() + ns_to_tick(timeout_s * 1000000000LL),
		    timed_out, p);
	p->p_started = arch_tick();
	sched_ready(p->p_lwps);
}

int
proc_wait(struct proc *p)
{
	while (!p->p_done)
		waitq_wait(&p->p_wait);
	return p->p_status < KILLED(0) ? p->p_status
	                               : 128 + (p->p_status & 0x7f);
}

void
proc_free(struct proc *p)
{
	struct proc **link = &allprocs;

	while (p->p_lwps != NULL)
		lwp_free(p->p_lwps);
	sig_flush(p, &p->p_sigpend);
	while (*link != NULL && *link != p)
		link = &(*link)->p_next;
	if (*link == p) { /* else it was not created as a whole */
		*link = p->p_next;
		proc_hash_remove(p);
	}
	if (!p->p_done) { /* else it gave these back when it ended */
		file_close_all(p);
		as_release(p->p_as);
	}
	kfree(p);
}

void
proc_kill(struct proc *p, int status)
{
	if (p->p_exiting)
		return;
	p->p_exiting = true;
	p->p_status = status;
	for (struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
		sig_notify(l, AST_EXIT);
}
