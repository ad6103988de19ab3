/*
 * The text of a form: an instruction with the kinds of its operands
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PLANTED_TEXT_H
#define PLANTED_TEXT_H

#include <string>

#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>

std::string form_text(const llvm::MCInst &, llvm::MCInstPrinter &,
                      const llvm::MCSubtargetInfo &, bool x86);

#endif
