/*
 * Controlling another process: the type only, for <libcpc.h>.
 */
#ifndef LIBPCTX_H
#define LIBPCTX_H

typedef struct __pctx pctx_t;

#endif /* LIBPCTX_H */
