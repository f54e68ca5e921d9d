#include "tests/fixture/payload.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace rubato;

TEST_CASE("every planted flip of a bit is found, where it is") {
  for (const size_t bytes : {1u, 7u, 8u, 9u, 4096u, 5001u}) {
    const Payload payload = {3, 5, bytes, 17};
    std::vector<unsigned char> data(bytes);
    fill_payload(data.data(), payload);
    CHECK(!first_difference(data.data(), payload));
    for (size_t offset = 0; offset<bytes; offset += bytes> 100 ? 37 : 1) {
      for (int bit = 0; bit < 8; ++bit) {
        data[offset] ^= static_cast<unsigned char>(1 << bit);
        const auto found = first_difference(data.data(), payload);
        REQUIRE(found);
        CHECK(found->offset == offset);
        CHECK(found->bit == bit);
        data[offset] ^= static_cast<unsigned char>(1 << bit);
      }
    }
  }
}

TEST_CASE("the first of two differences is reported") {
  const Payload payload = {0, 1, 100, 0};
  std::vector<unsigned char> data(100);
  fill_payload(data.data(), payload);
  data[90] ^= 1;
  data[41] ^= 0x60;  // bits 5 and 6
  const auto found = first_difference(data.data(), payload);
  REQUIRE(found);
  CHECK(found->offset == 41);
  CHECK(found->bit == 5);
}

TEST_CASE("a message is taken for no other one") {
  std::vector<unsigned char> data(64);
  const Payload payload = {0, 1, 64, 7};
  fill_payload(data.data(), payload);
  for (const Payload& other :
       {Payload{1, 0, 64, 7}, Payload{0, 2, 64, 7}, Payload{0, 1, 63, 7}, Payload{0, 1, 64, 8}}) {
    CHECK(first_difference(data.data(), other));
  }
  CHECK(!first_difference(data.data(), {0, 1, 0, 7}));  // nothing to differ in
}
