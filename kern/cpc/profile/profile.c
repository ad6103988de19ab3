/*
 * Profiles: samples of the program counter, one each time a period of events
 * has passed.
 *
 * An LWP that is about to execute a program hands its context to a profile.
 * The context is frozen until execve(2).  Then it counts for the program, for
 * all its LWPs, and for what these fork and execute.
 *
 * Each overflow takes a sample instead of posting a signal: the program itself
 * is not changed.  No user event is counted between the overflow and the
 * program's next instruction, so all periods have the same number of user
 * events.
 *
 * A profile of depth 0 takes no samples.  It sums, over all LWPs, the counts
 * of a set of any size, from each LWP's start to its end.  A profile of rows
 * keeps these counts for each LWP, and for each period.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/profile/profile_impl.h"
#include "kern/cpc/test/witness.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "lib/string.h"

/* Samples as read(2) returns them, one after the other. */
struct chunk {
	struct chunk *ch_next;
	size_t ch_read, ch_bytes; /* bytes read already, and in all */
	char ch_data[];
};
#define CHUNK_BYTES (PAGE_SIZE - sizeof(struct chunk))

struct kcpc_profile {
	unsigned kp_refs; /* one for the file, one for each context */
	unsigned kp_depth, kp_nreqs;
	bool kp_begun, kp_rows;
	uint64_t kp_count[PCBE_MAXPIC]; /* by request */
	struct chunk *kp_first, *kp_last;
	struct kcpc_image *kp_images;
	struct cpc_profile_stat kp_stat;
};

const struct kcpc_perf_ops *kcpc_perf;
struct kcpc_profile kcpc_perf_profile = { .kp_begun = true };

_Static_assert(
    sizeof(struct cpc_profile_sample) + CPC_PROFILE_DEPTH * sizeof(uint64_t) <
	CHUNK_BYTES,
    "a sample fits in a chunk");

struct kcpc_profile *
kcpc_profile_new(void)
{
	struct kcpc_profile *kp = kmalloc(sizeof *kp);

	if (kp != NULL)
		kp->kp_refs = 1;
	return kp;
}

void
kcpc_profile_release(struct kcpc_profile *kp)
{
	struct chunk *ch;

	if (--kp->kp_refs > 0)
		return;
	while ((ch = kp->kp_first) != NULL) {
		kp->kp_first = ch->ch_next;
		page_free(ch, 0);
	}
	kcpc_image_free_all(kp->kp_images);
	kfree(kp);
}

/* Room for a sample at the end of the list.  NULL: out of memory. */
static void *
sample_room(struct kcpc_profile *kp, size_t bytes)
{
	struct chunk *ch = kp->kp_last;

	if (ch == NULL || CHUNK_BYTES - ch->ch_bytes < bytes) {
		if ((ch = page_alloc(0)) == NULL)
			return NULL;
		ch->ch_next = NULL;
		ch->ch_read = ch->ch_bytes = 0;
		if (kp->kp_first == NULL)
			kp->kp_first = ch;
		else
			kp->kp_last->ch_next = ch;
		kp->kp_last = ch;
	}
	ch->ch_bytes += bytes;
	return ch->ch_data + ch->ch_bytes - bytes;
}

/*
 * The program counter and the return addresses of its callers.  A frame
 * pointer leads to a record of two words, on both architectures: the caller's
 * frame pointer and the return address.  Each record lies above the last in
 * the stack; the walk ends at one that does not.
 */
static unsigned
walk_frames(const struct trapframe *tf, uint64_t *pc, unsigned max)
{
	uintptr_t fp = tf_fp(tf), record[2];
	unsigned n = 0;

	pc[n++] = tf_pc(tf);
	while (n < max && fp % sizeof(uintptr_t) == 0 &&
	       copyin_quietly(record, fp, sizeof record) == 0 &&
	       record[1] != 0) {
		pc[n++] = record[1];
		if (record[0] <= fp)
			break;
		fp = record[0];
	}
	return n;
}

/* Add a sample of n frames, or a row of n values. */
static void
add_values(struct kcpc_profile *kp, const struct kcpc_ctx *ctx,
    const uint64_t *values, unsigned n)
{
	const struct lwp *l = ctx->kc_lwp;
	const struct cpc_profile_sample head = {
		.cm_lwp = (uint32_t)l->l_id,
		.cm_pid = (uint32_t)l->l_proc->p_pid,
		.cm_tid = (uint32_t)l->l_tid,
		.cm_nframes = (uint16_t)n,
		.cm_image = (uint16_t)ctx->kc_image,
		.cm_hrtime = gethrtime(),
	};
	char *at = sample_room(kp, sizeof head + n * sizeof values[0]);

	kp->kp_stat.ct_samples++;
	if (at == NULL) {
		kp->kp_stat.ct_lost++;
		return;
	}
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, values, n * sizeof values[0]);
}

/*
 * Add a sample with the frame tf of the program.  If the overflow was in the
 * kernel, `kernel` is the address there, else 0.
 */
static void
add_sample(struct kcpc_profile *kp, const struct kcpc_ctx *ctx, uint64_t kernel,
    const struct trapframe *tf)
{
	uint64_t pc[CPC_PROFILE_DEPTH];
	unsigned n = 0;

	if (kernel != 0)
		pc[n++] = kernel;
	if (n < kp->kp_depth)
		n += walk_frames(tf, pc + n, kp->kp_depth - n);
	add_values(kp, ctx, pc, n);
}

/* Add a row with the counts since the last one. */
static void
add_row(struct kcpc_profile *kp, struct kcpc_ctx *ctx)
{
	struct {
		struct cpc_profile_usage usage;
		uint64_t count[PCBE_MAXPIC];
	} row;

	row.usage = kcpc_usage_take(ctx);
	kcpc_usage_add(&kp->kp_stat.ct_usage, &row.usage);
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		row.count[i] = *kcpc_count(ctx, i) - ctx->kc_reqs[i].kr_preset;
	add_values(
	    kp, ctx, (const uint64_t *)&row, CPC_PROFILE_USAGE + ctx->kc_nreqs);
}

static void
preset_all(struct kcpc_ctx *ctx)
{
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		*kcpc_count(ctx, i) = ctx->kc_reqs[i].kr_preset;
}

/*
 * Add the counts since the last sample to the sums, and start from the presets.
 * A second whole period has no sample: the interrupt of its overflow came late,
 * or not at all.
 */
static void
begin_period(struct kcpc_profile *kp, struct kcpc_ctx *ctx, bool sampled)
{
	uint64_t preset = ctx->kc_reqs[0].kr_preset, periods;

	if (ctx->kc_notify != 0) {
		periods = (*kcpc_count(ctx, 0) - preset) / -preset;
		if (periods > sampled)
			kp->kp_stat.ct_missed += periods - sampled;
	}
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		kp->kp_count[i] +=
		    *kcpc_count(ctx, i) - ctx->kc_reqs[i].kr_preset;
	kp->kp_stat.ct_events = kp->kp_count[0];
	preset_all(ctx);
}

void
kcpc_profile_sample(struct kcpc_ctx *ctx, const struct trapframe *tf)
{
	if (ctx->kc_perf != NULL) {
		kcpc_perf->overflowed(ctx);
		return;
	}
	if (ctx->kc_profile->kp_rows)
		add_row(ctx->kc_profile, ctx);
	else
		add_sample(ctx->kc_profile, ctx, ctx->kc_nmi_pc, tf);
	begin_period(ctx->kc_profile, ctx, true);
	ctx->kc_flags &= ~KCPC_CTX_FREEZE;
	kcpc_start(ctx);
}

/*
 * The NMI handler restarted the PIC at the end of each logged period.  The PIC
 * then holds less than a period, but the fold, which compares with the value
 * that program() loaded, adds a whole round.  Correct the count for that.
 */
void
kcpc_profile_nmi_samples(struct kcpc_ctx *ctx)
{
	struct kcpc_profile *kp = ctx->kc_profile;
	uint64_t preset, periods;

	if (kcpc_ops->nmi_log == NULL)
		return;
	struct pcbe_nmi_log *pk = kcpc_ops->nmi_log();
	ctx->kc_nmi_pc = pk->pk_last;
	pk->pk_last = 0;
	if ((periods = pk->pk_n + pk->pk_lost) == 0)
		return;
	for (unsigned i = 0; i < pk->pk_n; i++)
		add_sample(kp, ctx, pk->pk_pc[i], ctx->kc_lwp->l_tf);
	kp->kp_stat.ct_samples += pk->pk_lost;
	kp->kp_stat.ct_lost += pk->pk_lost;
	pk->pk_n = pk->pk_lost = 0;
	preset = ctx->kc_reqs[0].kr_preset;
	kp->kp_count[0] -= periods * preset; /* a period is -preset events */
	*kcpc_count(ctx, 0) = preset + ((*kcpc_count(ctx, 0) - preset) &
					   ctx->kc_pcbe.ps_cfg[0].pc_mask);
}

static void
profile_begin(struct kcpc_ctx *ctx)
{
	struct kcpc_profile *kp = ctx->kc_profile;

	kp->kp_begun = true;
	kp->kp_stat.ct_lwps++;
	kcpc_usage_begin(ctx);
	preset_all(ctx);
	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	if ((ctx->kc_flags & KCPC_CTX_INVALID) == 0)
		ctx->kc_flags &= ~KCPC_CTX_FREEZE;
}

void
kcpc_profile_inherit(struct kcpc_ctx *ctx)
{
	ctx->kc_profile->kp_refs++;
	profile_begin(ctx);
}

bool
kcpc_profiled(const struct lwp *l)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	return ctx != NULL && ctx->kc_profile != NULL &&
	       ctx->kc_profile->kp_begun;
}

int
kcpc_profile_fork(const struct lwp *parent, struct lwp *child)
{
	return kcpc_profiled(parent) ? kcpc_inherit(parent, child) : 0;
}

/* Take a sample that is due, while the old program still runs. */
static void
flush_sample(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx->kc_profile->kp_depth == 0 && !ctx->kc_profile->kp_rows)
		return;
	if (kcpc_running(ctx))
		kcpc_fold(ctx); /* an overflow may freeze it */
	kcpc_sigemt_take(l, l->l_tf);
}

void
kcpc_exec_leave(struct lwp *l)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || ctx->kc_profile == NULL) {
		kcpc_lwp_exit(l);
		return;
	}
	if (kcpc_profiled(l))
		flush_sample(l);
	kcpc_cpu_lwp_exit(l);
	kcpc_page_free(l);
}

void
kcpc_profile_map(const struct lwp *l, const char *path, uintptr_t va,
    size_t bytes, uint64_t offset)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || ctx->kc_profile == NULL ||
	    ctx->kc_profile->kp_depth == 0)
		return;
	kcpc_image_of(&ctx->kc_profile->kp_images,
	    (struct cpc_profile_image){ .ci_start = va,
		.ci_end = va + bytes,
		.ci_offset = offset,
		.ci_of = ctx->kc_image },
	    path);
}

void
kcpc_exec_enter(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;
	const struct proc *p = l->l_proc;
	const struct elf *loader = &p->p_loader;

	if (ctx == NULL)
		return;
	if (ctx->kc_perf != NULL) {
		kcpc_perf->executed(l);
		return;
	}
	ctx->kc_image = kcpc_image_of(&ctx->kc_profile->kp_images,
	    (struct cpc_profile_image){ .ci_bias = p->p_elf.e_bias },
	    p->p_name);
	for (unsigned i = 0; p->p_elf.e_interp != NULL && i < loader->e_nseg;
	     i++) {
		const struct elf_segment *s = &loader->e_seg[i];

		if (s->seg_prot & ELF_X)
			kcpc_profile_map(l, p->p_elf.e_interp,
			    s->seg_vaddr + loader->e_bias, s->seg_memsz,
			    s->seg_offset);
	}
	if (kcpc_profiled(l))
		return;
	profile_begin(ctx);
	kcpc_usage_on(ctx);
	if (kcpc_running(ctx))
		kcpc_start(ctx);
}

void
kcpc_profile_end(struct kcpc_ctx *ctx)
{
	struct kcpc_profile *kp = ctx->kc_profile;
	struct cpc_profile_usage usage;

	if (kp == NULL)
		return;
	if (ctx->kc_perf != NULL) {
		kcpc_perf->ended(ctx);
		return;
	}
	if (kp->kp_begun) {
		/* The LWP does not return to take a sample that is due. */
		bool due =
		    (ctx->kc_flags & (KCPC_CTX_SIGOVF | KCPC_CTX_INVALID)) ==
		    KCPC_CTX_SIGOVF;

		if (kp->kp_rows)
			add_row(kp, ctx);
		else if (due)
			add_sample(kp, ctx, ctx->kc_nmi_pc, ctx->kc_lwp->l_tf);
		usage = kcpc_usage_take(ctx);
		kcpc_usage_add(&kp->kp_stat.ct_usage, &usage);
		begin_period(kp, ctx, due);
		kp->kp_stat.ct_revoked +=
		    (ctx->kc_flags & KCPC_CTX_INVALID) != 0;
	}
	kcpc_profile_release(kp);
}

/* The profile of a file descriptor, or NULL. */
static struct kcpc_profile *
profile_of_fd(uintptr_t fd)
{
	struct file *f = fd < NFD ? file_get((int)fd) : NULL;

	return f != NULL && f->f_kind == FILE_PROFILE ? f->f_profile : NULL;
}

/* May only the first request notify, and not in the kernel? */
static bool
can_serve_rows(const struct kcpc_ctx *ctx)
{
	if (ctx->kc_pcbe.ps_nmi_pics != 0)
		return false;
	for (unsigned i = 1; i < ctx->kc_nreqs; i++) {
		if (ctx->kc_pcbe.ps_cfg[i].pc_notify)
			return false;
	}
	return true;
}

/*
 * A profile with samples needs a set of one notify request; a profile of sums
 * needs a set without notify requests.
 */
static bool
can_serve(const struct kcpc_ctx *ctx, uintptr_t depth)
{
	if ((ctx->kc_flags & KCPC_CTX_LWPINHERIT) == 0)
		return false;
	if (depth == CPC_PROFILE_ROWS)
		return can_serve_rows(ctx);
	if (depth > CPC_PROFILE_DEPTH)
		return false;
	return depth == 0 ? ctx->kc_notify == 0
	                  : ctx->kc_nreqs == 1 && ctx->kc_notify != 0;
}

intptr_t
kcpc_op_profile(const uintptr_t *a)
{
	struct kcpc_profile *kp = profile_of_fd(a[0]);
	uintptr_t depth = a[1];
	struct kcpc_ctx *ctx;
	int err;

	if (kp == NULL)
		return -EBADF;
	if ((err = kcpc_find(lwp_self(), 0, &ctx)) != 0)
		return -err;
	if (kp->kp_refs > 1 || !can_serve(ctx, depth))
		return -EINVAL;
	kcpc_stop(ctx);
	ctx->kc_flags |= KCPC_CTX_FREEZE | KCPC_CTX_PROFILE;
	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	/* The library's set is no longer bound. */
	kcpc_instance_remove(ctx);
	ctx->kc_set = 0;
	ctx->kc_page_set = 0;
	kcpc_instance_add(ctx);
	/* execve(2) frees the LWP's counter page. */
	kcpc_page_shut(ctx);
	kcpc_page_move(ctx, &ctx->kc_own);
	ctx->kc_pcbe.ps_user_read = false;
	ctx->kc_profile = kp;
	kp->kp_refs++;
	kp->kp_rows = depth == CPC_PROFILE_ROWS;
	kp->kp_depth = kp->kp_rows ? 0 : (unsigned)depth;
	/* The set counts on after a sample: nothing may be lost before it. */
	if (ctx->kc_pcbe.ps_nmi_pics != 0)
		ctx->kc_pcbe.ps_nmi_reload = ctx->kc_reqs[0].kr_preset;
	if ((ctx->kc_pcbe.ps_freeze | ctx->kc_pcbe.ps_nmi_pics) != 0)
		ctx->kc_pcbe.ps_config = PCBE_CONFIG_NEW;
	ctx->kc_pcbe.ps_freeze = 0;
	kp->kp_nreqs = ctx->kc_nreqs;
	return 0;
}

intptr_t
kcpc_op_profile_stat(const uintptr_t *a)
{
	struct kcpc_profile *kp = profile_of_fd(a[0]);

	if (kp == NULL)
		return -EBADF;
	kp->kp_stat.ct_left = kp->kp_refs - 1; /* the file has one */
	kp->kp_stat.ct_kernel =
	    kcpc_ops->nmi_log != NULL && !witness_counts(CPC_COUNT_SYSTEM);
	return -copyout(a[1], &kp->kp_stat, sizeof kp->kp_stat);
}

intptr_t
kcpc_op_profile_image(const uintptr_t *a)
{
	struct kcpc_profile *kp = profile_of_fd(a[0]);

	return kp != NULL ? -kcpc_image_get(kp->kp_images, a[1], a[2]) : -EBADF;
}

/* The size of the whole samples at `at` that fit in max bytes. */
static size_t
whole_samples(const char *at, size_t there, size_t max)
{
	size_t bytes = 0, n;

	for (; bytes < there; bytes += n) {
		const struct cpc_profile_sample *s =
		    (const struct cpc_profile_sample *)(at + bytes);

		n = sizeof *s + s->cm_nframes * sizeof s->cm_pc[0];
		if (bytes + n > max)
			break;
	}
	return bytes;
}

/* Each read returns the sums from the first on, as many as fit. */
static intptr_t
read_counts(const struct kcpc_profile *kp, uintptr_t uva, size_t len)
{
	size_t n = len / sizeof kp->kp_count[0];

	if (n > kp->kp_nreqs)
		n = kp->kp_nreqs;
	n *= sizeof kp->kp_count[0];
	return copyout(uva, kp->kp_count, n) != 0 ? -EFAULT : (intptr_t)n;
}

intptr_t
kcpc_profile_read(struct kcpc_profile *kp, uintptr_t uva, size_t len)
{
	struct chunk *ch;
	size_t done = 0, n;

	if (kp->kp_depth == 0 && !kp->kp_rows)
		return read_counts(kp, uva, len);
	while ((ch = kp->kp_first) != NULL) {
		n = whole_samples(ch->ch_data + ch->ch_read,
		    ch->ch_bytes - ch->ch_read, len - done);
		if (n == 0)
			return done > 0 ? (intptr_t)done : -EINVAL;
		if (copyout(uva + done, ch->ch_data + ch->ch_read, n) != 0)
			return done > 0 ? (intptr_t)done : -EFAULT;
		done += n;
		ch->ch_read += n;
		if (ch->ch_read < ch->ch_bytes)
			break;
		kp->kp_first = ch->ch_next;
		page_free(ch, 0);
	}
	if (kp->kp_first == NULL)
		kp->kp_last = NULL;
	return (intptr_t)done;
}
