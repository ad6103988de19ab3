/*
 * Control of another process: the type pctx_t only.  Included by <libcpc.h>.
 */
#ifndef LIBPCTX_H
#define LIBPCTX_H

typedef struct __pctx pctx_t;

#endif /* LIBPCTX_H */
