/* cpc(3CPC)'s closed list of generic events, without PAPI_. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool
is_word(const char *words, const char *word)
{
	char spaced[64];

	snprintf(spaced, sizeof spaced, " %.60s ", word);
	return strstr(words, spaced) != NULL;
}

/* Is it on the list?  The caches' are there by rule. */
static inline bool
is_generic(const char *event)
{
	return is_word(
		   " br_cn br_ins br_msp br_ntk br_prc br_tkn br_ucn bru_idl "
		   "btac_m ca_cln ca_inv ca_itv ca_shr ca_snp csr_fal csr_suc "
		   "csr_tot fad_ins fdv_ins fma_ins fml_ins fnv_ins fp_ins "
		   "fp_ops fp_stal fpu_idl fsq_ins ful_ccy ful_icy fxu_idl "
		   "hw_int int_ins ld_ins lst_ins lsu_idl mem_rcy mem_scy "
		   "mem_wcy prf_dm res_stl sr_ins stl_ccy stl_icy syc_ins "
		   "tlb_dm tlb_im tlb_sd tlb_tl tot_cyc tot_iis tot_ins "
		   "vec_ins ",
		   event) ||
	       (event[0] == 'l' && event[1] >= '1' && event[1] <= '3' &&
		   event[2] == '_' &&
		   is_word(" dca dch dcm dcr dcw ica ich icm icr icw ldm stm "
			   "tca tch tcm tcr tcw ",
		       event + 3));
}
