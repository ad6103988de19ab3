/*
 * A profile over the fake kernel, its file open as FAKE_FD.  Included by tests
 * of kern/cpc/profile/profile.c.
 */
#ifndef TESTS_LIB_HOST_PROFILE_H
#define TESTS_LIB_HOST_PROFILE_H

#include "tests/lib/host/host.h"

#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"

#define NOTIFY (CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT)
#define PERIOD 10
#define BAD    8UL /* an address nothing is mapped at */

extern struct file profile_file;
extern struct cpc_profile_stat profile_st; /* from profile_look() */
extern struct trapframe profile_frame;     /* the current LWP's */

/* The file, of a kernel that was booted just now. */
void profile_open(void);
/* For cmocka, of each test. */
int profile_up(void **state);
int profile_down(void **state);
/* The call's errno. */
int profile_attach(uintptr_t fd, uintptr_t depth);
/*
 * A set is a profile's, of that depth, from the next program on; whatever it
 * has counted before, an overflow that was not yet told included.
 */
void profile_begin(cpc_set_t *set, unsigned depth);
/* A set of one request, for an overflow each PERIOD. */
cpc_set_t *profile_set(uint_t flags);
void profile_look(void);
/* read(2). */
intptr_t profile_take(void *buf, size_t len);
/* A period of the current LWP passes, and it goes back to its program. */
void profile_pass(uintptr_t pc);

#endif /* TESTS_LIB_HOST_PROFILE_H */
