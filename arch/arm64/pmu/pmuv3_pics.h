/*
 * Offsets for pmuv3_pics.S: of struct pcbe_set and pcbe_cfg (kern/cpc/pcbe.h),
 * and of struct cpc_page, cpc_page_req and cpc_sample (<sys/cpc.h>).  Included
 * by pmuv3_pics.S, and by pmuv3_pcbe.c, which checks them.
 */
#pragma once

#define PS_N    0
#define PS_PICS 4
#define PS_CFG  80
#define PS_PAGE 88

#define PC_PIC   0
#define PC_SEL   8
#define PC_MASK  24
#define PC_BYTES 32

#define CG_SEQ  0
#define CG_TICK 8
#define CG_REQ  64

#define CQ_DATA  0
#define CQ_LAST  8
#define CQ_BYTES 32

#define CS_TICK 8 /* cs_value follows */
