/*
 * Kernel statistics of Solaris and illumos: the module cpu_info, one instance
 * for each CPU.  Included by programs.
 */
#ifndef BARECPC_KSTAT_H
#define BARECPC_KSTAT_H

#include <stdint.h>
#include <sys/types.h>

#define KSTAT_STRLEN     31
#define KSTAT_TYPE_NAMED 1

#define KSTAT_DATA_CHAR   0
#define KSTAT_DATA_INT32  1
#define KSTAT_DATA_UINT32 2
#define KSTAT_DATA_INT64  3
#define KSTAT_DATA_UINT64 4
#define KSTAT_DATA_STRING 9

typedef int kid_t;

typedef struct kstat_named {
	char name[KSTAT_STRLEN];
	unsigned char data_type; /* KSTAT_DATA_* */
	union {
		char c[16];
		int32_t i32;
		uint32_t ui32;
		int64_t i64;
		uint64_t ui64;
		struct {
			union {
				char *ptr;
				char pad[8];
			} addr;
			uint32_t len; /* the NUL included */
		} str;
	} value;
} kstat_named_t;
#define KSTAT_NAMED_STR_PTR(knp)    ((knp)->value.str.addr.ptr)
#define KSTAT_NAMED_STR_BUFLEN(knp) ((knp)->value.str.len)

typedef struct kstat {
	hrtime_t ks_crtime;
	struct kstat *ks_next;
	kid_t ks_kid;
	char ks_module[KSTAT_STRLEN]; /* "cpu_info" */
	int ks_instance;              /* the CPU */
	char ks_name[KSTAT_STRLEN];   /* "cpu_info0" */
	unsigned char ks_type;        /* KSTAT_TYPE_NAMED */
	char ks_class[KSTAT_STRLEN];  /* "misc" */
	void *ks_data;                /* kstat_named_t, after kstat_read() */
	uint_t ks_ndata;
	size_t ks_data_size;
	hrtime_t ks_snaptime;
} kstat_t;

typedef struct kstat_ctl {
	kid_t kc_chain_id;
	kstat_t *kc_chain;
	int kc_kd;
} kstat_ctl_t;

#ifdef __cplusplus
extern "C" {
#endif

/* kstat_open(3KSTAT).  NULL with errno ENOMEM on failure. */
kstat_ctl_t *kstat_open(void);
int kstat_close(kstat_ctl_t *kc);
/* Returns 0: the chain never changes. */
kid_t kstat_chain_update(kstat_ctl_t *kc);
/*
 * The first statistic that matches, or NULL with errno ENOENT.  A module or
 * name of NULL, and an instance of -1, match all.  kstat_lookup(3KSTAT).
 */
kstat_t *kstat_lookup(
    kstat_ctl_t *kc, const char *module, int instance, const char *name);
/*
 * Fetch the data: "state" ("on-line" or "off-line"),
 * "cpu_type", "clock_MHz" (of the tick counter).  buf
 * receives a copy, unless it is NULL.  Returns the chain's id or -1.
 * kstat_read(3KSTAT).
 */
kid_t kstat_read(kstat_ctl_t *kc, kstat_t *ks, void *buf);
/* The datum of that name, or NULL with errno ENOENT. */
void *kstat_data_lookup(kstat_t *ks, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* BARECPC_KSTAT_H */
