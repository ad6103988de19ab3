/* A profile on the fake kernel, whose file is FAKE_FD.  For its tests. */
#pragma once

#include "tests/lib/host/kcpc/host.h"

#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"

#define NOTIFY (CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT)
#define PERIOD 10
#define BAD    8UL /* an address where nothing is mapped */

extern struct file profile_file;
extern struct cpc_profile_stat profile_st; /* filled by profile_look() */
extern struct trapframe profile_frame;     /* the current LWP's */

/* Open a profile's file, after the kernel was booted. */
void profile_open(void);
/* The cmocka fixture of each test. */
int profile_up(void **state);
int profile_down(void **state);
/* Define a test: PROFILE_TEST(name) { ... } */
#define PROFILE_TEST(name) TEST_WITH(name, profile_up, profile_down)
/* Attach the current LWP's set to a profile.  Returns an errno. */
int profile_attach(uintptr_t fd, uintptr_t depth);
/*
 * The set belongs to the profile, with that depth, from its next overflow on.
 * The set has counted before, and has an overflow that is not reported yet.
 */
void profile_begin(cpc_set_t *set, unsigned depth);
/* A set of one request that overflows every PERIOD. */
cpc_set_t *profile_set(uint_t flags);
void profile_look(void);
/* Read samples, as read(2) does. */
intptr_t profile_take(void *buf, size_t len);
/* The current LWP runs for one period, and returns to its program at pc. */
void profile_pass(uintptr_t pc);
