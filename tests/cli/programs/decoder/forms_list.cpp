/*
 * Instructions of a target, and what qemu/planted/forms.cpp knows of them
 *
 *     forms_list x86_64|aarch64 list    print the bytes and the name of an instruction for each opcode of libLLVM
 *     forms_list x86_64|aarch64 facts   for each line of bytes: name, registers read, registers written
 *
 * An operand is a register of its class, another one for each operand, or a small number.  Memory is at a register.  An instruction
 * is printed if libLLVM encodes it, and decodes it as the same opcode.
 */
#include "qemu/planted/forms.h"

#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>

using namespace llvm;

namespace
{

/* Registers that the executor does not set, or that other things need */
bool usable(StringRef r, bool x86)
{
	static const char *const not_here[] = { "RIP", "EIP", "IP", "SSP", "RSP", "ESP", "SP", "SPL", "RSPH", "WSP", "XZR", "WZR", "FS", "GS",
		"AH", "BH", "CH", "DH", "X18", "W18", "X29", "W29", "LR", "W30", "X30" };
	unsigned n = 0;

	for (const char *name : not_here) {
		if (r == name)
			return false;
	}
	if (x86 && (r.starts_with("CR") || r.starts_with("DR") || r.starts_with("K0") || r.starts_with("TMM")))
		return false;
	/* XMM16 and R16 and up are not set. */
	while (!r.empty() && !isdigit(r.back()))
		r = r.drop_back();
	size_t at = r.find_last_not_of("0123456789");
	return !x86 || r.empty() || r.drop_front(at + 1).getAsInteger(10, n) || n < 16;
}

class Generator
{
	bool x86;
	const Target *target;
	std::unique_ptr<MCRegisterInfo> registers;
	std::unique_ptr<MCAsmInfo> assembler;
	std::unique_ptr<MCSubtargetInfo> subtarget;
	std::unique_ptr<MCInstrInfo> instructions;
	std::unique_ptr<MCContext> context;
	std::unique_ptr<MCDisassembler> disassembler;
	std::unique_ptr<MCCodeEmitter> emitter;

	unsigned pick(unsigned reg_class, unsigned nth)
	{
		const MCRegisterClass &c = registers->getRegClass(reg_class);

		/* The lowest last: they are those of implicit operands. */
		for (unsigned tries = 0; tries < c.getNumRegs(); tries++) {
			unsigned r = c.getRegister((3 + 2 * nth + tries) % c.getNumRegs());

			if (usable(registers->getName(r), x86))
				return r;
		}
		return 0;
	}

	unsigned named(const char *name)
	{
		for (unsigned r = 1; r < registers->getNumRegs(); r++) {
			if (!strcmp(registers->getName(r), name))
				return r;
		}
		return 0;
	}

	/* The operands of memory from n on.  Returns their number. */
	unsigned add_memory(MCInst &i, const MCInstrDesc &d, unsigned n)
	{
		unsigned of = 0;

		while (n + of < d.getNumOperands() && d.operands()[n + of].OperandType == MCOI::OPERAND_MEMORY)
			of++;
		if (of >= 5) {
			int index = d.operands()[n + 2].RegClass;
			bool vector = index >= 0 && registers->getRegClass(index).getSizeInBits() > 64;

			i.addOperand(MCOperand::createReg(named("RBX")));
			i.addOperand(MCOperand::createImm(1));
			i.addOperand(MCOperand::createReg(vector ? pick(index, 1) : named("R9")));
			i.addOperand(MCOperand::createImm(16));
			i.addOperand(MCOperand::createReg(0));
			return 5;
		}
		i.addOperand(MCOperand::createReg(of == 2 ? named("RSI") : named("RDI")));
		if (of == 2)
			i.addOperand(MCOperand::createReg(0));
		return of;
	}

	bool build(MCInst &i, unsigned opcode, int64_t imm)
	{
		const MCInstrDesc &d = instructions->get(opcode);
		unsigned registers_so_far = 0;

		i.setOpcode(opcode);
		for (unsigned n = 0; n < d.getNumOperands();) {
			const MCOperandInfo &o = d.operands()[n];
			int tied = d.getOperandConstraint(n, MCOI::TIED_TO);

			if (tied >= 0) {
				i.addOperand(i.getOperand(tied));
			} else if (x86 && o.OperandType == MCOI::OPERAND_MEMORY) {
				n += add_memory(i, d, n);
				continue;
			} else if (o.RegClass >= 0) {
				unsigned r = pick(o.RegClass, registers_so_far++);

				if (!r)
					return false;
				i.addOperand(MCOperand::createReg(r));
			} else {
				i.addOperand(MCOperand::createImm(imm));
			}
			n++;
		}
		return true;
	}

public:
	explicit Generator(const std::string &triple, bool is_x86) : x86(is_x86)
	{
		std::string error, features = x86 ? "" : "+all";
		MCTargetOptions options;

		target = TargetRegistry::lookupTarget(triple, error);
		registers.reset(target->createMCRegInfo(triple));
		assembler.reset(target->createMCAsmInfo(*registers, triple, options));
		subtarget.reset(target->createMCSubtargetInfo(triple, "", features));
		instructions.reset(target->createMCInstrInfo());
		context = std::make_unique<MCContext>(Triple(triple), assembler.get(), registers.get(), subtarget.get());
		disassembler.reset(target->createMCDisassembler(*subtarget, *context));
		emitter.reset(target->createMCCodeEmitter(*instructions, *context));
	}

	bool print(unsigned opcode)
	{
		const MCInstrDesc &d = instructions->get(opcode);

		if (d.isPseudo() || d.isBranch() || d.isCall() || d.isReturn() || d.isTerminator() || d.isIndirectBranch())
			return false;
		for (int64_t imm : { 1, 3, 0, 8, 16, 17, 24, 32, 48, 64, 120, 0x1000, 0x1041 }) {
			SmallVector<char, 16> bytes;
			SmallVector<MCFixup, 4> fixups;
			uint64_t size = 0;
			MCInst i, again;

			if (!build(i, opcode, imm))
				return false;
			emitter->encodeInstruction(i, bytes, fixups, *subtarget);
			ArrayRef<uint8_t> code(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
			if (!fixups.empty() || disassembler->getInstruction(again, size, code, 0, nulls()) != MCDisassembler::Success ||
			    size != bytes.size() || again.getOpcode() != opcode)
				continue;
			for (uint8_t b : code)
				printf("%02x", b);
			printf(" %s\n", instructions->getName(opcode).data());
			return true;
		}
		return false;
	}

	unsigned opcodes() const
	{
		return instructions->getNumOpcodes();
	}
};

void print_registers(const char *what, const uint16_t *r, unsigned n)
{
	printf(" %s=", what);
	for (unsigned i = 0; i < n; i++)
		printf(i ? ",%u" : "%u", r[i]);
}

void print_facts(struct forms *f)
{
	std::string line;

	while (std::getline(std::cin, line)) {
		uint8_t bytes[16];
		size_t n = 0;
		struct planted_form form;
		const char *name;
		char text[FORMS_TEXT];

		for (unsigned b; n < sizeof bytes && sscanf(line.c_str() + 2 * n, "%2x", &b) == 1; n++)
			bytes[n] = static_cast<uint8_t>(b);
		forms_decode(f, bytes, n, &form, &name, text);
		printf("%s", name ? name : "?");
		print_registers("reads", form.read, form.reads);
		print_registers("writes", form.write, form.writes);
		printf(" %s\n", form.idiom ? "idiom" : "-");
	}
}

} // namespace

extern "C" {
void LLVMInitializeX86TargetMC();
void LLVMInitializeAArch64TargetMC();
}

int main(int argc, char **argv)
{
	struct forms *f = argc == 3 ? forms_new(argv[1]) : nullptr;
	bool x86 = f && !strcmp(argv[1], "x86_64");

	if (!f) {
		fprintf(stderr, "usage: forms_list x86_64|aarch64 list|facts\n");
		return 2;
	}
	if (!strcmp(argv[2], "facts")) {
		print_facts(f);
		return 0;
	}
	Generator g(x86 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu", x86);
	/* The encoder ends the program at operands that it cannot take: go on after them. */
	unsigned *at = static_cast<unsigned *>(mmap(nullptr, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	while (++*at < g.opcodes()) {
		pid_t child = fork();

		for (; child == 0; ++*at) {
			if (*at == g.opcodes())
				_exit(0);
			g.print(*at);
			fflush(stdout);
		}
		waitpid(child, nullptr, 0);
	}
	return 0;
}
