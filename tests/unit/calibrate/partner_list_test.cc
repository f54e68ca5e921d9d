#include "calibrate/plan/partner_list.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "models/base/error.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

const std::string kHeader = "scenario,kind,name,rank,peer,size,value\n";

/// The list in a file with this text, for a job of four ranks; or why it is refused.
PartnerList listed_in(const std::string& text, std::string* complaint) {
  const fs::path path =
      fs::temp_directory_path() / ("rubato-partners-" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << text;
  PartnerList list;
  try {
    list = read_partner_list(path, 4);
  } catch (const InputError& error) {
    if (complaint) *complaint = error.what();
  }
  fs::remove(path);
  return list;
}

}  // namespace

TEST_CASE("partners are the rows of the message matrix, each pair once") {
  CHECK(listed_in(kHeader + "measured,time,MPI_Send,0,,,1.5\nmeasured,matrix_request,,2,0,,7\n"
                            "measured,matrix_request,,0,3,,1\nmeasured,matrix_size,,0,1,,8\n"
                            "\"a, b\",matrix_request,,0,3,,1\n",
                  nullptr) == PartnerList{{0, 3}, {2, 0}});
  CHECK(listed_in("# from to\n\n3 1\n0,2\n3 1\n", nullptr) == PartnerList{{0, 2}, {3, 1}});
}

TEST_CASE("a file without partners, or of more ranks, is refused in one line") {
  const auto says = [](const std::string& text, const std::string& words) {
    std::string complaint;
    CHECK(listed_in(text, &complaint).empty());
    CHECK_THAT(complaint, Catch::Contains(words));
    CHECK(complaint.find('\n') == std::string::npos);
  };
  says("", "no ranks that exchange messages");
  says(kHeader + "measured,time,MPI_Send,0,,,1.5\n", "no ranks that exchange messages");
  says("0 1\n0 4\n", ":2: there is no rank 4 of 4; start calibrate with as many ranks");
  says(kHeader + "measured,matrix_request,,17,0,,7\n", ":2: there is no rank 17 of 4");
  for (const char* text : {"0\n", "0 1 2\n", "0 -1\n", "a b\n", "0 99999999999\n"})
    says(text, ":1: must be the numbers of two ranks");
  CHECK_THROWS_AS(read_partner_list("/no/such/file.csv", 4), InputError);
}
