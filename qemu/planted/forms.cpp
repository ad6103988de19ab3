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
#include "text.h"

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
#include <llvm/MC/MCInstPrinter.h>
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
    std::unique_ptr<MCInstPrinter> printer;
    std::set<unsigned> ignored; /* register units that are not registers */
    unsigned x87; /* the unit that stands for all of x87's stack */
    unsigned
        flags; /* x86: S, Z, A and P.  C and O are the two after the last */
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
    f->printer.reset(t->createMCInstPrinter(Triple(triple), f->x86,
                                            *f->assembler, *f->instructions,
                                            *f->registers));
    if (f->registers->getNumRegUnits() + 2 > PLANTED_REGS) {
        return nullptr;
    }
    /* Registers that always hold the same, or that nobody waits for */
    f->x87 = f->flags = 0;
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
            if (name == "EFLAGS") {
                f->flags = unit;
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

void add_unit(operands to, unsigned unit)
{
    if (*to.count < PLANTED_OPERANDS &&
        std::find(to.reg, to.reg + *to.count, unit) == to.reg + *to.count) {
        to.reg[(*to.count)++] = unit;
    }
}

void add(const forms &f, operands to, unsigned r)
{
    if (!r) {
        return;
    }
    StringRef name = f.registers->getName(r);
    bool x87 = f.x86 && (starts(name, { "ST", "FP", "MM" }) && name != "SSP");

    for (MCRegUnit unit : f.registers->regunits(r)) {
        uint16_t u = x87 ? f.x87 : unit;

        if (!f.ignored.count(u)) {
            add_unit(to, u);
        }
    }
}

/* x86's flags are three registers: C, O, and the rest. */
enum { FLAG_C = 1, FLAG_O = 2, FLAG_REST = 4, FLAGS = 7 };

void add_flags(const forms &f, operands to, unsigned flags)
{
    unsigned units = f.registers->getNumRegUnits();

    if (flags & FLAG_C) {
        add_unit(to, units);
    }
    if (flags & FLAG_O) {
        add_unit(to, units + 1);
    }
    if (flags & FLAG_REST) {
        add_unit(to, f.flags);
    }
}

/* The flags that a condition looks at: Intel SDM vol. 1, appendix B */
unsigned flags_of_condition(const MCInst &i)
{
    static const unsigned of_pair[] = {
        FLAG_O,    FLAG_C,    FLAG_REST,          FLAG_C | FLAG_REST,
        FLAG_REST, FLAG_REST, FLAG_O | FLAG_REST, FLAG_O | FLAG_REST
    };
    const MCOperand &last = i.getOperand(i.getNumOperands() - 1);

    return last.isImm() ? of_pair[last.getImm() >> 1 & 7] : unsigned(FLAGS);
}

/* Of an instruction whose lists have the flags, those that it reads: a shift by
 * CL keeps all if CL is 0. */
unsigned x86_flags_read(StringRef n, const MCInst &i, bool listed)
{
    if (starts(n, { "JCC", "SETCC" }) ||
        (starts(n, { "CMOV" }) && !n.contains("_F"))) {
        return flags_of_condition(i);
    }
    if (starts(n, { "ADC", "SBB", "CMC" })) {
        return FLAG_C;
    }
    if (starts(n, { "RCL", "RCR" })) {
        return n.ends_with("CL") ? FLAG_C | FLAG_O : FLAG_C;
    }
    if (starts(n, { "ADOX" })) {
        return FLAG_O;
    }
    if (starts(n, { "LAHF" })) {
        return FLAG_C | FLAG_REST;
    }
    if (starts(n, { "LOOPE", "LOOPNE" })) {
        return FLAG_REST;
    }
    if (n.ends_with("CL")) {
        return starts(n, { "ROL", "ROR" }) ? FLAG_C | FLAG_O : FLAGS;
    }
    return listed ? FLAGS : 0;
}

unsigned x86_flags_written(StringRef n)
{
    if (starts(n, { "INC", "DEC" })) {
        return FLAG_O | FLAG_REST;
    }
    if (starts(n, { "ROL", "ROR", "RCL", "RCR" })) {
        return FLAG_C | FLAG_O;
    }
    if (starts(n, { "BT1", "BT3", "BT6", "BTC", "BTR", "BTS", "CLC", "CMC",
                    "STC", "ADCX" })) {
        return FLAG_C;
    }
    if (starts(n, { "ADOX" })) {
        return FLAG_O;
    }
    if (starts(n, { "SAHF" })) {
        return FLAG_C | FLAG_REST;
    }
    return starts(n, { "CMPXCHG8B", "CMPXCHG16B" }) ? FLAG_REST : FLAGS;
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

/* It reads and writes a register that the decoder's lists leave out. */
void add_both(const forms &f, planted_form *form, const char *name)
{
    add(f, { &form->reads, form->read }, find_register(f, name));
    add(f, { &form->writes, form->write }, find_register(f, name));
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

    auto is_flags = [&](MCPhysReg r) {
        return f.x86 && StringRef(f.registers->getName(r)) == "EFLAGS";
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
    bool uses_flags = false;
    for (MCPhysReg r : d.implicit_defs()) {
        if (is_flags(r)) {
            add_flags(f, writes, x86_flags_written(name));
        } else if (flags && !is_sp_of_call(r)) {
            add(f, writes, r);
        }
    }
    for (MCPhysReg r : d.implicit_uses()) {
        if (is_flags(r)) {
            uses_flags = true;
        } else if (flags && !is_sp_of_call(r)) {
            add(f, reads, r);
        }
    }
    if (f.x86) {
        add_flags(f, reads, x86_flags_read(name, i, uses_flags));
    } else {
        /* These leave some of the flags, or V becomes the opposite of C. */
        if (starts(name, { "RMIF", "SETF", "CTERM" }) ||
            (name == "MRS" && i.getOperand(1).getImm() == SYSREG_NZCV)) {
            add(f, reads, find_register(f, "NZCV"));
        }
        if (name == "MSR" && i.getOperand(0).getImm() == SYSREG_NZCV) {
            add(f, writes, find_register(f, "NZCV"));
        }
        return;
    }
    if (starts(name, { "RET", "CALL", "PUSH", "POP", "ENTER", "LEAVE" }) &&
        !starts(name, { "POPCNT" })) {
        add_both(f, form, "RSP");
    }
    if (name == "ENTER") {
        add_both(f, form, "RBP");
    }
    if (starts(name, { "LOOP", "REP" })) {
        add_both(f, form, "RCX");
    }
    if (starts(name, { "CMPXCHG" })) {
        add_both(f, form, "RAX");
        if (name.ends_with("rr")) {
            add(f, reads, i.getOperand(0).getReg());
        }
    }
}

bool is_simd(const forms &f, unsigned r)
{
    StringRef n = r ? f.registers->getName(r) : "";

    if (f.x86) {
        return starts(n, { "XMM", "YMM", "ZMM", "MM", "ST", "FPSW" }) ||
               (n.size() == 2 && n[0] == 'K');
    }
    /* B0, H0, S0, D0, Q0, Z0 and P0, and lists of them; not SP */
    return n.size() > 1 && StringRef("BHSDQZP").contains(n[0]) && n[1] >= '0' &&
           n[1] <= '9';
}

/* Does it have a register of vectors, of masks, or of x87? */
bool has_simd(const forms &f, const MCInst &i, const MCInstrDesc &d)
{
    for (unsigned n = 0; n < i.getNumOperands(); n++) {
        if (i.getOperand(n).isReg() && is_simd(f, i.getOperand(n).getReg())) {
            return true;
        }
    }
    auto simd = [&](MCPhysReg r) { return is_simd(f, r); };
    return std::any_of(d.implicit_defs().begin(), d.implicit_defs().end(),
                       simd) ||
           std::any_of(d.implicit_uses().begin(), d.implicit_uses().end(),
                       simd);
}

/* What adds, multiplies, compares, rounds or converts floating point */
planted_class simd_work(const forms &f, StringRef n)
{
    if (!f.x86) {
        if (starts(n, { "FDIV", "FSQRT" })) {
            return PLANTED_FPDIV;
        }
        return starts(n,
                      { "FADD",   "FSUB",  "FMUL",  "FMADD",  "FMSUB", "FNMADD",
                        "FNMSUB", "FNMUL", "FMLA",  "FMLS",   "FNMLA", "FNMLS",
                        "FNMAD",  "FNMSB", "FMAD",  "FMSB",   "FMAX",  "FMIN",
                        "FCM",    "FCCMP", "FAC",   "FCVT",   "FRINT", "FRECP",
                        "FRSQRT", "FABD",  "FCADD", "FSCALE", "FJCVT", "FAM",
                        "SCVTF",  "UCVTF", "BFMLA", "BFDOT",  "BFCVT" })
                   ? PLANTED_FP
                   : PLANTED_VECTOR;
    }
    n.consume_front("V");
    if (starts(n, { "MMX_CVT" })) {
        return PLANTED_FP;
    }
    if (starts(n, { "P", "K", "MMX" })) {
        return PLANTED_VECTOR; /* integers; PADDS is no ADDS */
    }
    if (contains(n, { "DIVS", "DIVP", "SQRTS", "SQRTP", "SQRT_F", "DIV_F",
                      "DIVR_F" }) &&
        !starts(n, { "RSQRT" })) {
        return PLANTED_FPDIV;
    }
    return starts(n,
                  { "ADD",    "SUB",     "MUL",    "MAX",    "MIN",   "CMP",
                    "COMI",   "UCOMI",   "CVT",    "ROUND",  "RNDSC", "RCP",
                    "RSQRT",  "HADD",    "HSUB",   "DPP",    "FMADD", "FMSUB",
                    "FNMA",   "FNMS",    "ADDSUB", "REDUCE", "RANGE", "SCALEF",
                    "GETEXP", "GETMANT", "UCOM_F", "COM_F" })
               ? PLANTED_FP
               : PLANTED_VECTOR;
}

/* A copy of a whole register */
bool is_move(const forms &f, StringRef n, const MCInst &i)
{
    if (f.x86) {
        n.consume_back("_REV");
        return n == "MOV32rr" || n == "MOV64rr" || n == "MOVAPSrr" ||
               n == "MOVAPDrr" || n == "MOVUPSrr" || n == "MOVUPDrr" ||
               n == "MOVDQArr" || n == "MOVDQUrr" || n == "VMOVAPSrr" ||
               n == "VMOVAPDrr" || n == "VMOVDQArr" || n == "VMOVAPSYrr" ||
               n == "VMOVAPDYrr" || n == "VMOVDQAYrr";
    }
    if (n == "FMOVDr" || n == "FMOVSr") {
        return true;
    }
    if (n == "ORRv16i8" || n == "ORRv8i8") {
        return i.getOperand(1).getReg() == i.getOperand(2).getReg();
    }
    return (n == "ORRXrs" || n == "ORRWrs") && i.getOperand(3).getImm() == 0 &&
           f.registers->getName(i.getOperand(1).getReg())[1] == 'Z';
}

planted_class work_of(const forms &f, StringRef n, const MCInst &i,
                      const MCInstrDesc &d)
{
    if (is_move(f, n, i)) {
        return PLANTED_MOVE;
    }
    if (has_simd(f, i, d) || starts(n, { "CVT", "VCVT" })) {
        return simd_work(f, n);
    }
    if (f.x86 ? starts(n, { "IMUL", "MUL" })
              : starts(n, { "MADD", "MSUB", "SMADDL", "UMADDL", "SMSUBL",
                            "UMSUBL", "SMULH", "UMULH" })) {
        return PLANTED_MUL;
    }
    return starts(n, { "IDIV", "DIV", "SDIV", "UDIV" }) ? PLANTED_DIV
                                                        : PLANTED_ALU;
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
                             const char **name, char text[FORMS_TEXT])
{
    MCInst i;

    *form = {};
    form->work = PLANTED_OTHER;
    *name = nullptr;
    *text = 0;
    if (!decode(*f, bytes, length, &i)) {
        return false;
    }
    const MCInstrDesc &d = f->instructions->get(i.getOpcode());
    StringRef n = f->instructions->getName(i.getOpcode());

    *name = n.data();
    snprintf(text, FORMS_TEXT, "%s",
             form_text(i, *f->printer, *f->subtarget, f->x86).c_str());
    add_operands(*f, i, d, n, form);
    /* MOVSQ and its like, and not MOVSSrm after a prefix and REX */
    if (f->x86 && n.size() <= 5 && prefixes(*f, bytes, length) &&
        starts(n, { "MOVS", "STOS", "LODS", "CMPS", "SCAS", "INS", "OUTS" })) {
        add_both(*f, form, "RCX");
    }
    form->branch = d.isBranch() || d.isCall() || d.isReturn();
    form->conditional = d.isConditionalBranch() ||
                        starts(n, { "LOOP", "JCXZ", "JECXZ", "JRCXZ" });
    form->work = form->branch ? PLANTED_BRANCH : work_of(*f, n, i, d);
    /* Far ones are no branches of a PMU. */
    form->branch &= !f->x86 || !starts(n, { "IRET", "LRET", "FAR" });
    form->waits = f->x86 ? x86_waits(n) : arm_waits(n, i);
    form->moves_only = moves_only(*f, n, d);
    form->idiom = is_idiom(*f, n, i);
    form->no_work = form->idiom || starts(n, { "NOOP" }) ||
                    (f->x86 ? starts(n, { "ENDBR" }) : n == "HINT");
    return true;
}
