/* The functions of fp_regs.S, which describes save areas.  Included by fp.c. */
#pragma once

unsigned arm64_sve_vector(void); /* bytes of a Z register at present */
void arm64_sve_save(void *area);
void arm64_sve_load(const void *area);
void arm64_sve_begin(void); /* clear the bits beyond NEON's registers */
void arm64_neon_save(void *area);
void arm64_neon_load(const void *area);
void arm64_neon_switch(void *save, const void *load);
void arm64_neon_clear(void);
/* Load from the records of a signal's frame (fp.h). */
void arm64_neon_load_frame(const void *fpsimd);
void arm64_sve_load_frame(const void *sve, const void *fpsimd);
