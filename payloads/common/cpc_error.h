/*
 * Why libcpc refused, in its own words: what cpc_seterrhndlr(3CPC) is told
 * instead of standard error.  Included by what reports it in a line of its
 * own.
 */
#ifndef PAYLOADS_COMMON_CPC_ERROR_H
#define PAYLOADS_COMMON_CPC_ERROR_H

#include <libcpc.h>

#include <stddef.h>

/* From now on the handle's errors are kept here; nothing is yet. */
void detail_keep(cpc_t *cpc);
void detail_forget(void);
/* CPC_* of the last error, or -1: there was none. */
int detail_subcode(void);
/* In words that are more to the point than its own. */
void cpc_error_override(const char *why);
/* Its text, or errno's where libcpc said nothing: EAGAIN is a bind's. */
const char *detail_text(void);
/* The machine's reason why cpc_open(3CPC) failed. */
const char *detail_absent(char *buf, size_t size);

#endif /* PAYLOADS_COMMON_CPC_ERROR_H */
