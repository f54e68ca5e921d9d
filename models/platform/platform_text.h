#pragma once

#include <string>
#include <utility>

#include "models/collective/collective_model.h"

namespace rubato {

/// Text as TOML has it, in quotes.
std::string quoted(const std::string& text);

/// The largest relative error that a platform file states: beyond it nothing is known anyway.
inline constexpr double kMostUncertainty = 1000;

/// Where the coefficients of a collective's formula stand, by their keys in platform files.
inline constexpr std::pair<const char*, double CollectiveFormula::*> kFormulaTerms[] = {
    {"constant", &CollectiveFormula::constant},
    {"log_p", &CollectiveFormula::log_p},
    {"p", &CollectiveFormula::p},
    {"p2", &CollectiveFormula::p2},
    {"d", &CollectiveFormula::d},
    {"d_log_p", &CollectiveFormula::d_log_p},
    {"d_p", &CollectiveFormula::d_p},
    {"d_p2", &CollectiveFormula::d_p2}};

}  // namespace rubato
