/*
 * Field offsets for the direct read: struct cpc_page, cpc_page_req and
 * cpc_sample of <sys/cpc.h>, struct cpci_buf of cpc/cpci.h.  Included by
 * cpc/arm64/read.S, cpc/x86/read.S, and cpc/sample.c, which checks them.
 */
#pragma once

#define CG_SEQ  0
#define CG_TICK 8
#define CG_SET  16
#define CG_MULT 32
#define CG_LIFT 40
#define CG_REQ  64

#define CQ_DATA  0
#define CQ_LAST  8
#define CQ_INDEX 16
#define CQ_MASK  24
#define CQ_BYTES 32

#define CS_HRTIME 0
#define CS_TICK   8
#define CS_VALUE  16

#define CB_SET    0
#define CB_N      8
#define CB_SAMPLE 16
#define CB_BOTH   24
