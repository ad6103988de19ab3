/*
 * execve(2): another program in the same process.  The new address space is
 * complete before the old one is freed, so that a failure changes nothing.
 */
#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/archive.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/control/control.h"
#include "kern/proc/futex/futex.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sys/file/user_path.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

#define ARGS_BYTES (128UL << 10) /* of all strings of argv and envv */
#define ARGS_MAX   4096          /* strings of argv and envv */

struct args {
	char **ptr; /* argv, then envv */
	char *text, *next, *end;
	unsigned argc, envc;
};

static int
args_init(struct args *args)
{
	*args = (struct args){ 0 };
	args->ptr = kmalloc(ARGS_MAX * sizeof *args->ptr);
	args->text = args->next = kmalloc(ARGS_BYTES);
	if (args->ptr == NULL || args->text == NULL)
		return ENOMEM;
	args->end = args->text + ARGS_BYTES;
	return 0;
}

/* Append a vector of strings.  uva 0: an empty one.  Returns 0 or an errno. */
static int
args_read(struct args *args, uintptr_t uva, unsigned *n)
{
	unsigned first = args->argc;
	uintptr_t str;
	int err;

	for (*n = 0; uva != 0; ++*n, uva += sizeof str) {
		if (copyin(&str, uva, sizeof str) != 0)
			return EFAULT;
		if (str == 0)
			break;
		if (first + *n == ARGS_MAX)
			return E2BIG;
		err = copyinstr(
		    args->next, str, (size_t)(args->end - args->next));
		if (err != 0)
			return err == ENAMETOOLONG ? E2BIG : err;
		args->ptr[first + *n] = args->next;
		args->next += strlen(args->next) + 1;
	}
	return 0;
}

/* Keep a string for the new program.  NULL: there is no room. */
static char *
args_keep(struct args *args, const char *s, size_t len)
{
	char *kept = args->next;

	if (len >= (size_t)(args->end - kept))
		return NULL;
	memcpy(kept, s, len);
	kept[len] = '\0';
	args->next += len + 1;
	return kept;
}

/* The next word of a script's first line, or with `all` the rest of it. */
static size_t
line_word(const char **s, const char *end, bool all)
{
	const char *word, *to;

	while (*s < end && (**s == ' ' || **s == '\t'))
		++*s;
	for (word = to = *s; *s < end; ++*s) {
		if (**s != ' ' && **s != '\t')
			to = *s + 1;
		else if (!all)
			break;
	}
	*s = word;
	return (size_t)(to - word);
}

#define SCRIPTS_MAX 4   /* that interpret each other, as on Linux */
#define LINE_MAX    256 /* bytes of a script that are looked at, as on Linux */

/*
 * Execute the interpreter of a script: execve(2), "Interpreter scripts".  The
 * rest of the line is one argument, and the script's path the next.
 */
static int
use_interpreter(
    struct args *args, const struct archive_entry *e, const char **path)
{
	const char *s = e->ae_data + 2, *end = e->ae_data;
	char *name, *option = NULL, *script;
	size_t n, more = 1;

	while (end < e->ae_data + e->ae_bytes && *end != '\n' &&
	       end < e->ae_data + LINE_MAX)
		end++;
	if ((n = line_word(&s, end, false)) == 0)
		return ENOEXEC;
	name = args_keep(args, s, n);
	s += n;
	if ((n = line_word(&s, end, true)) > 0) {
		more++;
		option = args_keep(args, s, n);
	}
	script = args_keep(args, *path, strlen(*path));
	if (name == NULL || (more > 1 && option == NULL) || script == NULL ||
	    args->argc + args->envc + more > ARGS_MAX)
		return E2BIG;
	memmove(args->ptr + 1 + more, args->ptr + 1,
	    (args->argc + args->envc - 1) * sizeof *args->ptr);
	args->ptr[0] = name;
	args->ptr[1] = option;
	args->ptr[more] = script;
	args->argc += more;
	*path = name;
	return 0;
}

static bool
is_script(const struct archive_entry *e)
{
	return e->ae_bytes > 2 && memcmp(e->ae_data, "#!", 2) == 0;
}

/* Load a program into p, which has only memory.  0 or an errno. */
static int
load_program(struct proc *p, const char *path, const struct archive_entry *e,
    struct args *args, uintptr_t *pc, uintptr_t *sp)
{
	const char *why;
	char buf[128];
	int err;

	p->p_system = proc_self()->p_system;
	memcpy(p->p_limit, proc_self()->p_limit, sizeof p->p_limit);
	strlcpy_shown(p->p_name, path, sizeof p->p_name);
	if ((err = proc_use_program(p, e, &why, buf, sizeof buf)) != 0)
		return err;
	if ((p->p_as = as_new(p->p_system)) == NULL)
		return ENOMEM;
	err = exec_load(p, path, args->ptr, args->argc, args->ptr + args->argc,
	    args->envc, pc, sp, &why, buf, sizeof buf);
	if (err != 0)
		as_release(p->p_as);
	return err;
}

static void
close_on_exec(struct proc *p)
{
	for (int fd = 0; fd < NFD; fd++) {
		if (p->p_cloexec & 1ULL << fd)
			file_close(fd);
	}
	p->p_cloexec = 0;
}

/* From here on nothing can fail: p takes the new memory and starts there. */
static void
become_program(struct proc *p, struct proc *loaded, uintptr_t pc, uintptr_t sp)
{
	struct lwp *l = lwp_self();
	struct as *old = p->p_as;

	futex_lwp_exit(l);      /* other processes may share its locks */
	control_release_all(p); /* its handles of libpctx go */
	kcpc_exec_leave(l);     /* the counter page is in the old memory */
	p->p_as = loaded->p_as;
	arch_as_switch(p->p_as);
	as_release(old);
	p->p_vforked = false;
	p->p_membarriers = 0;
	p->p_elf = loaded->p_elf;
	p->p_loader = loaded->p_loader;
	p->p_program = loaded->p_program;
	p->p_stack_bytes = loaded->p_stack_bytes;
	p->p_vdso = loaded->p_vdso;
	p->p_sigreturn = loaded->p_sigreturn;
	p->p_said_efault = false;
	p->p_execed = true;
	strlcpy(p->p_name, loaded->p_name, sizeof p->p_name);
	strlcpy(p->p_args, loaded->p_args, sizeof p->p_args);
	l->l_clear_tid = 0;
	l->l_robust = 0;
	lwp_hash_remove(l);
	lwp_hash_insert(l, p->p_pid); /* even if it was not the first LWP */
	l->l_id = p->p_next_id = 1;
	sig_exec(l);
	close_on_exec(p);
	proc_release_parent(p);
	arch_lwp_reset(l, pc, sp);
	kcpc_exec_enter(l);
}

static int
exec_program(const char *path, struct args *args)
{
	struct proc *p = proc_self(), *loaded = kmalloc(sizeof *loaded);
	const struct archive_entry *e;
	const char *called = path;
	struct lookup lk;
	uintptr_t pc, sp;
	int err;

	if (loaded == NULL)
		return ENOMEM;
	for (unsigned scripts = 0;; scripts++) {
		if ((err = lookup_at(&lk, AT_FDCWD, path, true)) != 0 ||
		    (err = lookup_check(&lk)) != 0)
			goto free_loaded;
		/* Only programs of the archives and in /tmp are executed. */
		err = EACCES;
		e = lk.lk_node != NULL
		        ? tmp_program(lk.lk_node, lk.lk_path, &err)
		        : lk.lk_entry;
		if (e == NULL)
			goto free_loaded;
		if (!is_script(e))
			break;
		err = scripts == SCRIPTS_MAX ? ELOOP
		                             : use_interpreter(args, e, &path);
		if (err != 0)
			goto free_loaded;
	}
	/* The log names the program, not /proc/self/exe. */
	if (strcmp(lk.lk_path, "proc/self/exe") == 0)
		path = e->ae_path;
	if ((err = load_program(loaded, path, e, args, &pc, &sp)) != 0)
		goto free_loaded;
	lwp_set_name(lwp_self(), called); /* others look up paths during this */
	if ((err = proc_alone()) != 0) {
		as_release(loaded->p_as);
		goto free_loaded;
	}
	become_program(p, loaded, pc, sp);
	stop_point(STOP_EXEC, 0);
free_loaded:
	kfree(loaded);
	return err;
}

intptr_t
sys_execve(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	const char *path;
	struct args args;
	int err;

	stop_point(STOP_EXEC_ENTRY, 0);
	if ((err = args_init(&args)) == 0 &&
	    (err = copyin_path(a[0], &path)) == 0 &&
	    (err = args_read(&args, a[1], &args.argc)) == 0) {
		/* As Linux: programs rely on argv[0]. */
		if (args.argc == 0)
			args.ptr[args.argc++] = args_keep(&args, "", 0);
		if ((err = args_read(&args, a[2], &args.envc)) == 0)
			err = exec_program(path, &args);
	}
	kfree(args.ptr);
	kfree(args.text);
	if (err != 0) {
		stop_point(STOP_EXEC_FAILED, 0);
		return -err;
	}
	trap_return(arch_lwp_frame(l));
	arch_lwp_resume(l);
}
