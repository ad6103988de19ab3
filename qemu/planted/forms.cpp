/*
 * What libLLVM knows of an instruction: registers, kind of branch, kind of work
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A register is a number of LLVM's register units: AL and AH are two, EAX has
 * both.  So an instruction that writes a part of a register merges, and one
 * that writes EAX does not.  README.md has the classes of work.
 */

#include "forms.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

using namespace llvm;

struct forms {
    bool x86;
    std::unique_ptr<MCRegisterInfo> registers;
    std::unique_ptr<MCAsmInfo> assembler;
    std::unique_ptr<MCSubtargetInfo> subtarget;
    std::unique_ptr<MCInstrInfo> instructions;
    std::unique_ptr<MCContext> context;
    std::unique_ptr<MCDisassembler> disassembler;
    std::set<unsigned> ignored; /* register units that are not registers */
    unsigned x87; /* the unit that stands for all of x87's stack */
};

extern "C" const char *forms_version(void)
{
    return "LLVM " LLVM_VERSION_STRING;
}

extern "C" struct forms *forms_new(const char *target)
{
    auto f = std::make_unique<forms>();
    std::string triple, features, error;
    MCTargetOptions options;

    f->x86 = !strcmp(target, "x86_64");
    if (f->x86) {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86Disassembler();
        triple = "x86_64-unknown-linux-gnu";
    } else if (!strcmp(target, "aarch64")) {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64Disassembler();
        triple = "aarch64-unknown-linux-gnu";
        features = "+all";
    } else {
        return nullptr;
    }
    const Target *t = TargetRegistry::lookupTarget(triple, error);
    f->registers.reset(t->createMCRegInfo(triple));
    f->assembler.reset(t->createMCAsmInfo(*f->registers, triple, options));
    f->subtarget.reset(t->createMCSubtargetInfo(triple, "", features));
    f->instructions.reset(t->createMCInstrInfo());
    f->context =
        std::make_unique<MCContext>(Triple(triple), f->assembler.get(),
                                    f->registers.get(), f->subtarget.get());
    f->disassembler.reset(t->createMCDisassembler(*f->subtarget, *f->context));
    if (f->registers->getNumRegUnits() > PLANTED_REGS) {
        return nullptr;
    }
    /* Registers that always hold the same, or that nobody waits for */
    f->x87 = 0;
    for (unsigned r = 1; r < f->registers->getNumRegs(); r++) {
        StringRef name = f->registers->getName(r);
        bool ignored = name == "XZR" || name == "WZR" || name == "RIP" ||
                       name == "EIP" || name == "IP" || name == "SSP" ||
                       name == "FPCR" || name == "MXCSR" || name == "FPCW" ||
                       name == "DF";

        for (MCRegUnit unit : f->registers->regunits(r)) {
            if (ignored) {
                f->ignored.insert(unit);
            }
            if (name == "ST0") {
                f->x87 = unit;
            }
        }
    }
    return f.release();
}

namespace
{

bool starts(StringRef name, std::initializer_list<const char *> heads)
{
    return std::any_of(heads.begin(), heads.end(),
                       [&](const char *h) { return name.starts_with(h); });
}

bool contains(StringRef name, std::initializer_list<const char *> parts)
{
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char *p) { return name.contains(p); });
}

/* op0 to op2 of NZCV: 3, 3, 4, 2, 0 */
constexpr int64_t SYSREG_NZCV = 0xda10;

struct operands {
    uint8_t *count;
    uint16_t *reg;
};

void add(const forms &f, operands to, unsigned r)
{
    if (!r) {
        return;
    }
    StringRef name = f.registers->getName(r);
    bool x87 = f.x86 && (starts(name, { "ST", "FP", "MM" }) && name != "SSP");

    for (MCRegUnit unit : f.registers->regunits(r)) {
        uint16_t u = x87 ? f.x87 : unit;

        if (f.ignored.count(u) || *to.count == PLANTED_OPERANDS ||
            std::find(to.reg, to.reg + *to.count, u) != to.reg + *to.count) {
            continue;
        }
        to.reg[(*to.count)++] = u;
    }
}

unsigned find_register(const forms &f, const char *name)
{
    for (unsigned r = 1; r < f.registers->getNumRegs(); r++) {
        if (StringRef(f.registers->getName(r)) == name) {
            return r;
        }
    }
    return 0;
}

void add_operands(const forms &f, const MCInst &i, const MCInstrDesc &d,
                  StringRef name, planted_form *form)
{
    operands reads = { &form->reads, form->read };
    operands writes = { &form->writes, form->write };
    /* The decoder's lists say that these have flags, a call SP. */
    bool flags = f.x86 || !starts(name, { "MRS", "MSR" });
    auto is_sp_of_call = [&](MCPhysReg r) {
        return starts(name, { "BL" }) &&
               StringRef(f.registers->getName(r)) == "SP";
    };

    /* It leaves the lower halves, which are all that has a unit. */
    if (name == "VZEROUPPER") {
        return;
    }
    for (unsigned n = 0; n < i.getNumOperands(); n++) {
        if (i.getOperand(n).isReg()) {
            add(f, n < d.getNumDefs() ? writes : reads,
                i.getOperand(n).getReg());
        }
    }
    for (MCPhysReg r : d.implicit_defs()) {
        if (flags && !is_sp_of_call(r)) {
            add(f, writes, r);
        }
    }
    for (MCPhysReg r : d.implicit_uses()) {
        if (flags && !is_sp_of_call(r)) {
            add(f, reads, r);
        }
    }
    if (!f.x86) {
        if (name == "MRS" && i.getOperand(1).getImm() == SYSREG_NZCV) {
            add(f, reads, find_register(f, "NZCV"));
        }
        if (name == "MSR" && i.getOperand(0).getImm() == SYSREG_NZCV) {
            add(f, writes, find_register(f, "NZCV"));
        }
        return;
    }
    /* What the decoder's lists leave out */
    if (starts(name, { "RET", "CALL", "PUSH", "POP", "ENTER", "LEAVE" }) &&
        !starts(name, { "POPCNT" })) {
        add(f, reads, find_register(f, "RSP"));
        add(f, writes, find_register(f, "RSP"));
    }
    if (name == "ENTER") {
        add(f, reads, find_register(f, "RBP"));
        add(f, writes, find_register(f, "RBP"));
    }
    if (starts(name, { "LOOP", "REP" })) {
        add(f, reads, find_register(f, "RCX"));
        add(f, writes, find_register(f, "RCX"));
    }
    if (starts(name, { "CMPXCHG" })) {
        add(f, reads, find_register(f, "RAX"));
        add(f, writes, find_register(f, "RAX"));
    }
}

planted_class x86_work(StringRef n)
{
    if (starts(n, { "IMUL", "MUL8", "MUL16", "MUL32", "MUL64", "MULX" })) {
        return PLANTED_MUL;
    }
    if (starts(n, { "IDIV", "DIV8", "DIV16", "DIV32", "DIV64" })) {
        return PLANTED_DIV;
    }
    if (contains(n, { "DIVS", "DIVP", "SQRT", "DIV_F", "DIVR_F" })) {
        return PLANTED_FPDIV;
    }
    if (contains(n, { "ADDSS", "ADDSD",  "ADDPS",  "ADDPD",  "SUBSS", "SUBSD",
                      "SUBPS", "SUBPD",  "MULSS",  "MULSD",  "MULPS", "MULPD",
                      "FMADD", "FMSUB",  "FNMADD", "FNMSUB", "CVT",   "ADD_F",
                      "SUB_F", "SUBR_F", "MUL_F",  "COMISS", "COMISD" })) {
        return PLANTED_FP;
    }
    if (starts(n, { "V",     "MMX",   "PADD",  "PSUB",  "PMUL",   "PAND",
                    "POR",   "PXOR",  "PCMP",  "PSHUF", "PUNPCK", "PS",
                    "PMIN",  "PMAX",  "PAVG",  "PACK",  "PALIGN", "PMADD",
                    "XORP",  "ANDP",  "ORP",   "UNPCK", "SHUFP",  "MOVAP",
                    "MOVUP", "MOVDQ", "MOVSS", "MOVSD" })) {
        return PLANTED_VECTOR;
    }
    return PLANTED_ALU;
}

planted_class arm_work(StringRef n)
{
    if (starts(n, { "MADD", "MSUB", "SMADDL", "UMADDL", "SMSUBL", "UMSUBL",
                    "SMULH", "UMULH" })) {
        return PLANTED_MUL;
    }
    if (starts(n, { "SDIV", "UDIV" })) {
        return PLANTED_DIV;
    }
    if (starts(n, { "FDIV", "FSQRT" })) {
        return PLANTED_FPDIV;
    }
    if (starts(n,
               { "FADD", "FSUB", "FMUL", "FMADD", "FMSUB", "FNM", "FCVT",
                 "FCMP", "SCVTF", "UCVTF", "FMLA", "FMLS", "FMAX", "FMIN" })) {
        return PLANTED_FP;
    }
    if (contains(n, { "v16i8", "v8i16", "v4i32", "v2i64", "v8i8", "v4i16",
                      "v2i32", "v1i64", "_ZZ", "_ZPmZ", "_ZPZ", "_PPzPP" })) {
        return PLANTED_VECTOR;
    }
    return PLANTED_ALU;
}

/* Reads of counters and clocks, and barriers */
bool x86_waits(StringRef n)
{
    return starts(n, { "RDTSC",   "RDPMC",     "CPUID",   "LFENCE", "MFENCE",
                       "SFENCE",  "SERIALIZE", "WRMSR",   "RDMSR",  "SYSCALL",
                       "SYSRET",  "SYSENTER",  "SYSEXIT", "IRET",   "INT",
                       "HLT",     "WBINVD",    "INVD",    "INVLPG", "MOV64rc",
                       "MOV64cr", "VMRUN" });
}

bool arm_waits(StringRef n, const MCInst &i)
{
    if (starts(n, { "ISB", "DSB", "DMB", "ERET", "SVC", "HVC", "SMC" })) {
        return true;
    }
    if (n != "MRS" && n != "MSR") {
        return false;
    }
    /* op0:op1:CRn:CRm:op2.  CRn is 9 for the PMU, 14 for timers and the PMU. */
    for (unsigned o = 0; o < i.getNumOperands(); o++) {
        if (i.getOperand(o).isImm()) {
            unsigned crn = i.getOperand(o).getImm() >> 7 & 15;

            return crn == 9 || crn == 14;
        }
    }
    return false;
}

bool same_inputs(const MCInst &i, unsigned first)
{
    return i.getNumOperands() > first + 1 && i.getOperand(first).isReg() &&
           i.getOperand(first + 1).isReg() &&
           i.getOperand(first).getReg() == i.getOperand(first + 1).getReg();
}

/* The result is zero whatever the inputs hold. */
bool is_idiom(const forms &f, StringRef n, const MCInst &i)
{
    if (!f.x86) {
        return false;
    }
    n.consume_back("_REV");
    return same_inputs(i, 1) &&
           (n == "XOR32rr" || n == "XOR64rr" || n == "SUB32rr" ||
            n == "SUB64rr" || n == "PXORrr" || n == "XORPSrr" ||
            n == "XORPDrr" || n == "VPXORrr" || n == "VXORPSrr" ||
            n == "VXORPDrr" || n == "VPXORYrr" || n == "VXORPSYrr" ||
            n == "VXORPDYrr");
}

bool moves_only(const forms &f, StringRef n, const MCInstrDesc &d)
{
    if (!d.mayLoad() && !d.mayStore()) {
        return false;
    }
    if (f.x86) {
        return starts(n, { "MOV", "VMOV", "PUSH", "POP", "LEAVE", "LODS",
                           "STOS", "KMOV", "LDDQU" }) &&
               !starts(n, { "POPCNT" });
    }
    return !starts(n, { "CAS", "SWP", "LDADD", "LDCLR", "LDEOR", "LDSET",
                        "LDSMAX", "LDSMIN", "LDUMAX", "LDUMIN" });
}

/* The length of the prefixes that LLVM takes for instructions of their own */
size_t prefixes(const forms &f, const uint8_t *bytes, size_t length)
{
    size_t n = 0;

    while (
        f.x86 && n + 1 < length &&
        (bytes[n] == 0xf0 || ((bytes[n] == 0xf2 || bytes[n] == 0xf3) &&
                              bytes[n + 1] != 0x90 && bytes[n + 1] != 0x0f))) {
        n++;
    }
    return n;
}

bool decode(const forms &f, const uint8_t *bytes, size_t length, MCInst *i)
{
    size_t skip = 0;
    uint64_t size = 0;

    for (;;) {
        ArrayRef<uint8_t> rest(bytes + skip, length - skip);

        i->clear();
        if (f.disassembler->getInstruction(*i, size, rest, 0, nulls()) !=
            MCDisassembler::Success) {
            return false;
        }
        if (skip + size == length) {
            return true;
        }
        /* A prefix that came alone */
        if (!size || skip + size > length ||
            !prefixes(f, bytes + skip, length - skip)) {
            return false;
        }
        skip += size;
    }
}

} // namespace

extern "C" bool forms_decode(struct forms *f, const uint8_t *bytes,
                             size_t length, struct planted_form *form,
                             const char **name)
{
    MCInst i;

    *form = {};
    form->work = PLANTED_OTHER;
    *name = nullptr;
    if (!decode(*f, bytes, length, &i)) {
        return false;
    }
    const MCInstrDesc &d = f->instructions->get(i.getOpcode());
    StringRef n = f->instructions->getName(i.getOpcode());

    *name = n.data();
    add_operands(*f, i, d, n, form);
    /* MOVSQ and its like, and not MOVSSrm after a prefix and REX */
    if (f->x86 && n.size() <= 5 && prefixes(*f, bytes, length) &&
        starts(n, { "MOVS", "STOS", "LODS", "CMPS", "SCAS", "INS", "OUTS" })) {
        operands reads = { &form->reads, form->read };
        operands writes = { &form->writes, form->write };

        add(*f, reads, find_register(*f, "RCX"));
        add(*f, writes, find_register(*f, "RCX"));
    }
    form->branch = d.isBranch() || d.isCall() || d.isReturn();
    form->conditional = d.isConditionalBranch() ||
                        starts(n, { "LOOP", "JCXZ", "JECXZ", "JRCXZ" });
    form->work = form->branch ? PLANTED_BRANCH
                 : f->x86     ? x86_work(n)
                              : arm_work(n);
    /* Far ones are no branches of a PMU. */
    form->branch &= !f->x86 || !starts(n, { "IRET", "LRET", "FAR" });
    form->waits = f->x86 ? x86_waits(n) : arm_waits(n, i);
    form->moves_only = moves_only(*f, n, d);
    form->idiom = is_idiom(*f, n, i);
    form->no_work = form->idiom || starts(n, { "NOOP" }) ||
                    (f->x86 ? starts(n, { "ENDBR" }) : n == "HINT");
    return true;
}
