#include "tools/launch/calibration_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "calibrate/measure/sweep.h"
#include "models/base/error.h"
#include "models/base/input_file.h"

using namespace rubato;

namespace {

CalibrationPlan plan_of(const std::string& text) {
  return parse_calibration_plan(text, "some/plan.toml");
}

/// Why a plan is refused.
std::string why_refused(const std::string& text) {
  try {
    plan_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("an empty plan and the one of 'rubato help plan' are the defaults") {
  CHECK(plan_of("") == CalibrationPlan{});
  const std::string path = RUBATO_SHARE "/help/plan.txt";
  CHECK(load_calibration_plan(path) == CalibrationPlan{});
  // The file has all keys.
  const std::string text = text_of_file(path, "a text", 1 << 20);
  size_t keys = 0;
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1))
    keys += text[at + 1] >= 'a' && text[at + 1] <= 'z';
  CHECK(keys == 22);
}

TEST_CASE("defaults of a plan are those of a sweep") {
  const SweepOptions sweep;
  const CalibrationPlan plan;
  CHECK(plan.max_size == sweep.max_bytes);
  CHECK(plan.loop == sweep.loop_seconds);
  CHECK(plan.threshold == sweep.threshold);
  CHECK(plan.separation == sweep.separation);
}

TEST_CASE("each key of a plan is read, and written as it is read") {
  const CalibrationPlan plan = plan_of(R"(
max_size = "64KiB"
time = "median"
patterns = ["ring", "partners_nonblocking"]
partners = "/b.csv"
adaptive_patterns = true
lengths = "a.csv"
loop = "123.456us"
threshold = 0.02
separation = "16B"
cold_buffer = "32MiB"
collectives = "bcast,allreduce"
collective_sizes = ["8B", "1KiB"]
collective_repetitions = 50
cold_collectives = true
tukey_factor = 2.25
sync = "window"
window = "1ms"
clock = "jk"
launches = 10
seed = 7
segments = 6
digits = 9
)");
  CHECK(plan.max_size == 64 << 10);
  CHECK(plan.time == "median");
  CHECK(plan.patterns == "ring,partners_nonblocking");
  CHECK(plan.partners == "/b.csv");
  CHECK(plan.adaptive_patterns);
  CHECK(plan.lengths == "some/a.csv");  // beside the plan
  CHECK(plan.loop == 123.456e-6);
  CHECK(plan.threshold == 0.02);
  CHECK(plan.separation == 16);
  CHECK(plan.cold_buffer == 32 << 20);
  CHECK(plan.collectives == "bcast,allreduce");
  CHECK(plan.collective_sizes == std::vector<size_t>{8, 1024});
  CHECK(plan.collective_repetitions == 50);
  CHECK(plan.tukey_factor == 2.25);
  CHECK(plan.cold_collectives);
  CHECK(plan.sync == "window");
  CHECK(plan.window == 1e-3);
  CHECK(plan.clock == "jk");
  CHECK(plan.launches == 10);
  CHECK(plan.seed == 7);
  CHECK(plan.segments == 6);
  CHECK(plan.digits == 9);

  const std::vector<std::string> lines = changed_keys(plan);
  CHECK(lines.size() == 22);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  CHECK(parse_calibration_plan(text, "plan.toml") == plan);
  CHECK(changed_keys({}).empty());
  CHECK(changed_keys(plan_of("launches = 3\nmax_size = \"4MiB\"\ncollectives = []")).size() == 2);
}

TEST_CASE("lists of a plan are arrays or a text with commas") {
  CHECK(plan_of("patterns = \"none\"").patterns == "none");
  CHECK(plan_of("patterns = []").patterns == "none");
  CHECK(plan_of("patterns = [\"all\"]").patterns == "all");
  CHECK(plan_of("collectives = [\"bcast\", \"scan\"]").collectives == "bcast,scan");
  CHECK(plan_of("collective_sizes = \"1KiB\"").collective_sizes == std::vector<size_t>{1024});
  CHECK(plan_of("lengths = \"/tmp/a.csv\"").lengths == "/tmp/a.csv");
}

TEST_CASE("lengths of a plan are a file, a list, or evenly spaced") {
  using Lengths = std::vector<size_t>;
  CHECK(plan_of("lengths = [\"1KiB\", \"0B\", \"8B\", \"8B\"]").length_list ==
        Lengths{0, 8, 1024});  // in order, each once
  const CalibrationPlan even =
      plan_of("lengths = { from = \"16B\", to = \"100B\", step = \"32B\" }");
  CHECK(even.length_list == Lengths{16, 48, 80});  // 112 is beyond
  CHECK(even.lengths.empty());
  CHECK(changed_keys(even) == std::vector<std::string>{"lengths = ['16B', '48B', '80B']"});
  CHECK(changed_keys(plan_of("lengths = [\"0B\", \"8B\", \"24B\"]")) ==
        std::vector<std::string>{"lengths = ['0B', '8B', '24B']"});
  CHECK(has_word(calibrator_words(even), "--listed-lengths=16,48,80"));
}

TEST_CASE("a plan becomes words of the calibrator") {
  const std::vector<std::string> defaults = calibrator_words({});
  for (const std::string word :
       {"--max-bytes=4194304", "--time=min", "--sync=auto", "--patterns=default", "--seed=0",
        "--cold-bytes=0", "--collective-bytes=", "--collective-repetitions=0",
        "--listed-lengths=", "--tukey-factor=1.5", "--window=0", "--clock=hca3"}) {
    CAPTURE(word);
    CHECK(has_word(defaults, word));
  }
  CHECK(has_word(defaults,
                 "--collectives=barrier,bcast,gather,gatherv,scatter,scatterv,allgather,allgatherv,"
                 "alltoall,alltoallv,reduce,allreduce,scan,exscan,reduce_scatter"));
  CHECK_FALSE(has_word(defaults, "--adaptive-patterns"));
  CHECK_FALSE(has_word(defaults, "--cold-collectives"));
  const std::vector<std::string> words = calibrator_words(
      plan_of("collectives = \"none\"\nadaptive_patterns = true\nlengths = \"/a.csv\"\n"
              "collective_sizes = [\"8B\", \"64B\"]\nthreshold = 1\nwindow = \"250us\"\n"
              "cold_collectives = true"));
  CHECK(has_word(words, "--window=0.00025"));
  CHECK(has_word(words, "--cold-collectives"));
  CHECK(has_word(words, "--collectives="));
  CHECK(has_word(words, "--adaptive-patterns"));
  CHECK(has_word(words, "--lengths=/a.csv"));
  CHECK(has_word(calibrator_words(plan_of("patterns = \"partners_synchronous\"\n"
                                          "partners = \"b.csv\"")),
                 "--partners=some/b.csv"));
  CHECK(has_word(words, "--collective-bytes=8,64"));
  CHECK(has_word(words, "--threshold=1"));
}

TEST_CASE("a wrong plan is refused with its line and what is allowed") {
  const auto says = [](const std::string& text, const std::string& words) {
    CAPTURE(text, words);
    CHECK_THAT(why_refused(text), Catch::Contains(words));
  };
  says("\nmax_sizes = \"1KiB\"",
       "some/plan.toml:2: a plan has no key 'max_sizes' (did you mean 'max_size'?); "
       "'rubato help plan' has them");
  says("[messages]\nloop = \"1ms\"", "some/plan.toml:1: a plan has no key 'messages'");
  says("loop =", "some/plan.toml:1: ");
  says("max_size = 12", "plan.toml:1: max_size: must lie between \"1KiB\" and \"1GiB\"");
  says("max_size = \"12B\"", "max_size: must lie between \"1KiB\" and \"1GiB\"");
  says("max_size = \"4Mb\"", "plan.toml:1: max_size: ");
  says("time = \"mean\"", "time: 'mean' is none of min, median");
  says("sync = \"barier\"",
       "sync: 'barier' is none of auto, barrier, window (did you mean 'barrier'");
  says("patterns = [\"rign\"]", "patterns: there is no pattern 'rign' (did you mean 'ring'");
  says("patterns = \"partners_nonblocking\"", "patterns: those of partners need the key partners");
  says("partners = \"b.csv\"", "partners: no pattern uses them");
  says("patterns = [1]", "patterns: must be names");
  says("collectives = \"alreduce\"", "did you mean 'allreduce'");
  says("collectives = true", "collectives: must be names");
  says("adaptive_patterns = \"yes\"", "adaptive_patterns: must be true or false");
  says("lengths = 3", "lengths: must be a file, sizes in an array, or from, to and step");
  says("lengths = [\"8B\", \"64B\"]", "lengths: must be 3 to 200 different lengths");
  says("lengths = [3]", "lengths: must lie between \"0B\" and \"1GiB\"");
  says("lengths = { from = \"0B\", to = \"1KiB\" }", "lengths: must have from, to and step");
  says("lengths = { from = \"0B\", to = \"1KiB\", step = \"0B\" }", "lengths: must lie between");
  says("lengths = { from = \"0B\", to = \"1MiB\", step = \"1B\" }", "must be 3 to 200");
  says("lengths = [\"0B\", \"8B\", \"8MiB\"]",
       "plan.toml: lengths: '8MiB' is longer than max_size, '4MiB'");
  says("tukey_factor = -1", "tukey_factor: must be a number from 0 to 100");
  says("window = \"2s\"", "window: must be \"auto\" or lie between \"1us\" and \"1s\"");
  says("clock = \"hca4\"", "clock: 'hca4' is none of jk, hca, hca2, hca3");
  says("cold_collectives = 1", "cold_collectives: must be true or false");
  says("loop = \"2s\"", "loop: must lie between \"1us\" and \"1s\"");
  says("loop = 50", "loop: must lie between");
  says("threshold = 0", "threshold: must be a number from 0.001 to 1");
  says("threshold = \"5%\"", "threshold: must be a number");
  says("separation = \"0B\"", "separation: must lie between \"1B\" and \"1MiB\"");
  says("cold_buffer = \"1KiB\"", "cold_buffer: must be \"auto\" or lie between \"64KiB\" and");
  says("collective_sizes = [\"8B\", \"12B\"]", "must be multiples of 8B, a double, and 12B is not");
  says("collective_sizes = []", "collective_sizes: must have at least one size");
  says("collective_sizes = [\"64MiB\"]", "must lie between \"8B\" and \"32MiB\"");
  says("collective_repetitions = 0", "must be \"auto\" or a whole number from 1 to 1000000");
  says("launches = 0", "launches: must be \"auto\" or a whole number from 1 to 10000");
  says("launches = \"many\"", "launches: must be \"auto\" or a whole number");
  says("seed = -1", "seed: must be a whole number from 0");
  says("segments = 21", "segments: must be a whole number from 1 to 20");
  says("segments = true", "segments: must be a whole number");
  says("digits = 1", "digits: must be a whole number from 2 to 15");
  says("digits = 3.5", "digits: must be a whole number");
  says(std::string(20000, '#'), "larger than 16KiB");
  CHECK_THROWS_AS(load_calibration_plan("/nowhere/plan.toml"), InputError);
}
