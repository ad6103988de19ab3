/* Parameters of the scheduling class FX.  Included by programs. */
#ifndef SYS_FXPRIOCNTL_H
#define SYS_FXPRIOCNTL_H

#include <sys/priocntl.h>

typedef struct {
	pri_t fx_upri;    /* FX_NOCHANGE or 0: the lowest, the only one */
	pri_t fx_uprilim; /* the same */
	uint_t fx_tqsecs;
	int32_t fx_tqnsecs; /* FX_NOCHANGE, FX_TQDEF: slices are 4 ms */
} fxparms_t;

typedef struct {
	pri_t fx_maxupri;
} fxinfo_t;

#define FX_NOCHANGE (-32768)
#define FX_TQINF    (-2)
#define FX_TQDEF    (-3)

#endif /* SYS_FXPRIOCNTL_H */
