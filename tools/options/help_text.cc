#include "tools/options/help_text.h"

#include <fmt/core.h>

#include <sstream>
#include <vector>

#include "tools/format/text_table.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

constexpr int kWidth = 80;

struct Paragraph {
  bool prose = true;
  std::string text;  ///< prose: words separated by single blanks; otherwise lines
};

/// Splits a text into paragraphs: runs of prose lines and runs of lines that begin with a blank.
std::vector<Paragraph> paragraphs(const std::string& text) {
  std::vector<Paragraph> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const bool prose = !line.starts_with(' ');
    if (result.empty() || result.back().prose != prose)
      result.push_back({prose, line});
    else
      result.back().text += (prose ? " " : "\n") + line;
  }
  return result;
}

std::string filled(const std::string& text) {
  std::string lines;
  for (const Paragraph& paragraph : paragraphs(text))
    lines += paragraph.prose ? wrap(paragraph.text, kWidth, 0) : paragraph.text + "\n";
  return lines;
}

/// "FILE" for an option with a value, without its default, which boost appends.
std::string value_of(const po::option_description& option) {
  if (option.semantic()->max_tokens() == 0) return "";
  const std::string name = option.semantic()->name();
  return name.substr(0, name.find(" (="));
}

/// "256MiB" from "SIZE (=256MiB)"; empty without a default.
std::string default_of(const po::option_description& option) {
  if (option.semantic()->max_tokens() == 0) return "";
  const std::string name = option.semantic()->name();
  const size_t at = name.find(" (=");
  return at == std::string::npos ? "" : name.substr(at + 3, name.size() - at - 4);
}

/// "-o"; empty if there is no short form.
std::string short_of(const po::option_description& option) {
  const std::string name =
      option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  return name.size() == 2 && name[0] == '-' ? name : "";
}

std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

}  // namespace

std::string help_for_terminal(const CommandHelp& help, const po::options_description& options) {
  std::ostringstream list;
  list << options;
  std::string text = fmt::format("Usage: {}\n\n{}\n", help.usage, filled(help.summary));
  std::istringstream lines(list.str());
  for (std::string line; std::getline(lines, line);)
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  if (!help.epilog.empty()) text += "\n" + filled(help.epilog);
  return text;
}

std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string roff_paragraphs(const std::string& text) {
  std::string out;
  for (const Paragraph& paragraph : paragraphs(text)) {
    out += paragraph.prose ? fmt::format(".PP\n{}\n", roff(paragraph.text))
                           : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(paragraph.text));
  }
  return out;
}

std::string help_for_man(const CommandHelp& help, const po::options_description& options) {
  std::string text = fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}.SH OPTIONS\n",
                                 roff(help.usage), roff_paragraphs(help.summary));
  for (const auto& option : options.options()) {
    const std::string value = value_of(*option), usual = default_of(*option);
    std::string names = fmt::format("\\fB{}\\fR", roff("--" + option->long_name()));
    if (const std::string letter = short_of(*option); !letter.empty())
      names = fmt::format("\\fB{}\\fR, {}", roff(letter), names);
    if (!value.empty()) names += fmt::format(" \\fI{}\\fR", roff(value));
    text += fmt::format(".TP\n{}\n{}{}\n", names, roff(on_one_line(option->description())),
                        usual.empty() ? "" : fmt::format(" (default: {})", roff(usual)));
  }
  // Commands are on lines of their own, and begin with a blank.
  const bool has_examples =
      help.epilog.starts_with(' ') || help.epilog.find("\n ") != std::string::npos;
  if (!help.epilog.empty()) {
    text += fmt::format(".SH {}\n{}", has_examples ? "EXAMPLES" : "NOTES",
                        roff_paragraphs(help.epilog));
  }
  return text;
}

std::string help_for_shells(const po::options_description& options) {
  std::string lines;
  for (const auto& option : options.options()) {
    const std::string rest =
        fmt::format("\t{}\t{}\n", value_of(*option), on_one_line(option->description()));
    lines += "--" + option->long_name() + rest;
    if (const std::string letter = short_of(*option); !letter.empty()) lines += letter + rest;
  }
  return lines;
}

}  // namespace rubato
