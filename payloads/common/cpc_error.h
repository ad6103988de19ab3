/*
 * The text of libcpc's last error, for programs that print it in a line of
 * their own.  Included by those programs and by meter.c.
 */
#pragma once

#include <libcpc.h>

#include <stddef.h>

/* Keep the handle's errors from now on, instead of printing them. */
void cpc_error_keep(cpc_t *cpc);
void cpc_error_forget(void);
/* The last error's CPC_* subcode, or -1 without an error. */
int cpc_error_subcode(void);
/* Replace the last error's text by one that helps the user more. */
void cpc_error_override(const char *why);
/* The last error's text, or without one, errno's.  EAGAIN is a bind's. */
const char *cpc_error_text(void);
/* End because a bind failed: with status 77 if a tool holds the counters. */
_Noreturn void cpc_error_of_bind(void);
/* Put the reason why cpc_open(3CPC) failed into buf.  Returns buf. */
const char *cpc_error_of_open(char *buf, size_t size);
