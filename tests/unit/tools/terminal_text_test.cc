#include "tools/cli/terminal_text.h"

#include <catch2/catch.hpp>

#include "tools/format/csv_text.h"

using namespace rubato;

TEST_CASE("text for terminals has no escapes and no bytes that are no UTF-8") {
  CHECK(terminal_text("a\tb\nµs ± 語") == "a\tb\nµs ± 語");
  CHECK(terminal_text("\033[2J\r\a\x7F") == "?[2J???");
  CHECK(terminal_text(std::string("a\0b", 3)) == "a?b");
  // U+009B, as terminals take it for ESC [; U+202E turns the direction.
  CHECK(terminal_text("\xC2\x9B") == "?");
  CHECK(terminal_text("\xE2\x80\xAE") == "?");
  // A continuation byte without a start; an overlong '/', byte by byte; a surrogate; a truncated
  // sequence at the end.
  CHECK(terminal_text("\x9B") == "?");
  CHECK(terminal_text("\xC0\xAF") == "??");
  CHECK(terminal_text("\xED\xA0\x80") == "???");
  CHECK(terminal_text("\xE2\x82") == "??");
  CHECK(terminal_text("\xF0\x9F\x98\x80") == "\xF0\x9F\x98\x80");
  CHECK(one_line("a\nb\033") == "a b?");
}

TEST_CASE("text for terminals of ASCII") {
  CHECK(ascii_text("1.5 µs ± 2 % × 3 ÷ 4 → 語") == "1.5 us +- 2 % x 3 / 4 -> ?");
}

TEST_CASE("cells that spreadsheets take for formulas") {
  CHECK(csv_text("=1+1") == "'=1+1");
  CHECK(csv_text("@SUM(A1,A2)") == "\"'@SUM(A1,A2)\"");
  CHECK(csv_text("-x") == "'-x");
  CHECK(csv_text("-1.5e3") == "-1.5e3");
  CHECK(csv_text("+3") == "+3");
  CHECK(csv_text("solve") == "solve");
}
