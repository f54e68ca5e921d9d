#include "tools/options/options.h"

#include <fmt/core.h>

#include "models/base/error.h"
#include "tools/cli/standard_streams.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

/// True if `word` is an option whose value is the next word ("-o", "--on"), unlike "--on=x".
bool takes_next_word(const std::string& word, const po::options_description& options) {
  if (word.find('=') != std::string::npos) return false;
  const bool is_long = word.rfind("--", 0) == 0;
  if (!is_long && word.size() > 2) return false;  // -ofile
  const std::string name = is_long ? word.substr(2) : word;
  for (const auto& option : options.options()) {
    const bool same =
        is_long
            ? option->long_name() == name
            : option->canonical_display_name(po::command_line_style::allow_dash_for_short) == name;
    if (same) return option->semantic()->min_tokens() > 0;
  }
  return false;
}

/// The number of leading words up to the first positional one, which are options of the command
/// itself.
size_t leading_options(const Arguments& words, const po::options_description& options) {
  size_t i = 0;
  while (i < words.size() && words[i].size() > 1 && words[i][0] == '-') {
    if (words[i] == "--") return i;
    i += takes_next_word(words[i], options) ? 2 : 1;
  }
  return std::min(i, words.size());
}

}  // namespace

bool parse_options(const Arguments& arguments, const CommandHelp& help,
                   const po::options_description& visible, const std::string& positional,
                   bool stop_at_positional, po::variables_map& values) {
  if (arguments == Arguments{"--help=man"} || arguments == Arguments{"--help=shells"}) {
    print_to_stdout(arguments[0] == "--help=man" ? help_for_man(help, visible)
                                                 : help_for_shells(visible));
    return false;
  }
  Arguments own = arguments;
  Arguments rest;
  if (stop_at_positional) {
    const size_t count = leading_options(arguments, visible);
    own.assign(arguments.begin(), arguments.begin() + count);
    rest.assign(arguments.begin() + count, arguments.end());
    if (!rest.empty() && rest[0] == "--") rest.erase(rest.begin());
  }

  po::options_description all;
  all.add(visible);
  po::positional_options_description words;
  if (!positional.empty()) {
    all.add_options()(positional.c_str(), po::value<std::vector<std::string>>());
    if (!stop_at_positional) words.add(positional.c_str(), -1);
  }
  try {
    using Style = po::command_line_style::style_t;
    const int style = Style::unix_style & ~Style::allow_guessing;
    po::store(po::command_line_parser(own).options(all).positional(words).style(style).run(),
              values);
    if (values.count("help")) {
      print_to_stdout(help_for_terminal(help, visible));
      return false;
    }
    po::notify(values);
  } catch (const po::unknown_option& error) {
    const std::string name = error.get_option_name();
    throw UsageError(fmt::format("there is no option '{}'{}; usage: {}", name,
                                 did_you_mean(name, option_names(visible)), help.usage));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError(fmt::format("too many arguments; usage: {}", help.usage));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}; usage: {}", error.what(), help.usage));
  }
  if (!rest.empty()) {
    values.insert({positional, po::variable_value(boost::any(rest), false)});
  }
  return true;
}

int number_in(const po::variables_map& values, const char* option, int least, int most) {
  const int number = values[option].as<int>();
  if (number >= least && number <= most) return number;
  throw UsageError(fmt::format("--{}: from {} to {}, not {}", option, least, most, number));
}

}  // namespace rubato
