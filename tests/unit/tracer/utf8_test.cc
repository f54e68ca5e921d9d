#include "tracer/archive/utf8.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("UTF-8 text is not changed") {
  // The least and the largest character of each length; U+D7FF and U+E000 are beside the
  // surrogates.
  for (const char* text :
       {"", "plain \t\n\x01\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "gr\xC3\xBCn"})
    CHECK(as_utf8(text) == text);
}

TEST_CASE("other text is taken as Latin-1, whose bytes are the first 256 characters") {
  // U+00FC is 11 111100 in binary, in UTF-8 110 00011, 10 111100.
  CHECK(as_utf8("gr\xFCn") == "gr\xC3\xBCn");
  CHECK(as_utf8("\x80\xFF") == "\xC2\x80\xC3\xBF");
  // All of it, also where a part would be UTF-8: U+00C3, U+00BC, U+00FC.
  CHECK(as_utf8("\xC3\xBC\xFC") == "\xC3\x83\xC2\xBC\xC3\xBC");
  // Cut off, not begun, in more bytes than needed, a surrogate, beyond U+10FFFF, of five bytes.
  for (const char* text :
       {"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xBC", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
        "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xF8\x88\x80\x80\x80", "\xE2\x28\xA1"}) {
    const std::string converted = as_utf8(text);
    CHECK(converted != text);
    CHECK(as_utf8(converted) == converted);
  }
}
