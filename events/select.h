/*
 * Bits of event selects and PMEVTYPER<n>_EL0.  Included within events/.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" and
 * Version 3; AMD APM vol. 2 (24593), "Performance Event-Select Registers";
 * Arm ARM (DDI 0487), "PMEVTYPER<n>_EL0".
 */
#pragma once

#define SEL_EVENT      0xffULL
#define SEL_UMASK      0xff00ULL
#define SEL_USR        (1ULL << 16)
#define SEL_OS         (1ULL << 17)
#define SEL_EDGE       (1ULL << 18)
#define SEL_INT        (1ULL << 20)
#define SEL_ANY        (1ULL << 21)
#define SEL_EN         (1ULL << 22)
#define SEL_INV        (1ULL << 23)
#define SEL_CMASK(v)   ((uint64_t)(v) << 24)
#define SEL_INTX       (1ULL << 32)
#define SEL_INTXCP     (1ULL << 33)
#define SEL_UMASK2     (0xffULL << 40) /* version 6 */
#define SEL_CONTROL    (SEL_EN | SEL_INT | SEL_USR | SEL_OS)
#define AMD_GUEST      (1ULL << 40)
#define AMD_HOST       (1ULL << 41)
#define ARM_EXCL_USR   (1ULL << 31)
#define ARM_EXCL_SYS   (1ULL << 30)
#define ARM_EXCL_NOHYP (1ULL << 27)
