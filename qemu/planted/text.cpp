/*
 * The text of a form: an instruction with the kinds of its operands
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * README.md has the kinds, under "Forms".  It is made from what libLLVM prints.
 */

#include "text.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/raw_ostream.h>

using namespace llvm;

namespace
{

/* The kind of an operand that is spelt so: a register's, or itself */
std::string kind_of(bool x86, StringRef word)
{
    static const StringRef conditions =
        "eq ne hs lo mi pl vs vc hi ls ge lt gt le al nv";
    StringRef stem = word.take_while([](char c) { return isalpha(c); });
    StringRef rest = word.drop_front(stem.size());

    if (!x86) {
        if (word.size() == 2 && conditions.contains(word)) {
            return "cond";
        }
        if (word == "sp" || word == "xzr" || word == "wsp" || word == "wzr") {
            return word[0] == 'w' ? "w" : "x";
        }
        size_t digits = rest.find_first_not_of("0123456789");

        return stem.size() == 1 && !rest.empty() && digits != 0
                   ? stem.str() + rest.substr(digits).str()
                   : word.str();
    }
    if (word == "cl" || stem == "st") {
        return stem.str();
    }
    if (!rest.empty()) { /* r8, r8d, xmm1, k1, cr3 */
        return stem != "r"           ? stem.str()
               : rest.ends_with("d") ? "r32"
               : rest.ends_with("w") ? "r16"
               : rest.ends_with("b") ? "r8"
                                     : "r64";
    }
    if (word.size() == 3 && (word[0] == 'r' || word[0] == 'e')) {
        return word[0] == 'r' ? "r64" : "r32";
    }
    if (word.size() <= 3 && (word.ends_with("l") || word.ends_with("h"))) {
        return "r8";
    }
    return word.size() != 2 ? word.str() : word.ends_with("s") ? "sreg" : "r16";
}

} // namespace

/* The text without what differs between two instructions of a form: README.md,
 * "Forms" */
std::string form_text(const MCInst &i, MCInstPrinter &printer,
                      const MCSubtargetInfo &subtarget, bool x86)
{
    std::string all, text;
    raw_string_ostream stream(all);

    printer.printInst(&i, 0, "", subtarget, stream);
    StringRef rest = StringRef(all).trim();
    StringRef head = rest.take_while([](char c) { return c != '\t'; });

    while (head == "lock" || head.starts_with("rep")) {
        text += head.str() + " ";
        rest = rest.drop_front(head.size()).ltrim();
        head = rest.take_while([](char c) { return c != '\t'; });
    }
    text += head;
    rest = rest.drop_front(head.size()).ltrim();
    text += rest.empty() ? "" : " ";
    while (!rest.empty()) {
        if (rest[0] == ' ' || rest[0] == '-') {
            text += rest[0] == ' ' ? " " : "";
            rest = rest.drop_front();
            continue;
        }
        StringRef word = rest.take_while(
            [](char c) { return isalnum(c) || c == '_' || c == '.'; });
        StringRef operand = rest.split(',').first;

        if (x86 && operand.contains('[')) {
            text += StringSwitch<const char *>(word)
                        .Case("byte", "m8")
                        .Case("word", "m16")
                        .Case("dword", "m32")
                        .Case("qword", "m64")
                        .Case("tbyte", "m80")
                        .Case("xmmword", "m128")
                        .Case("ymmword", "m256")
                        .Case("zmmword", "m512")
                        .Default("m");
            rest = rest.drop_front(operand.size());
        } else if (word.empty()) {
            text += rest[0];
            rest = rest.drop_front();
        } else {
            text += isdigit(word[0]) ? "i" : kind_of(x86, word);
            rest = rest.drop_front(word.size());
        }
    }
    return text;
}
