#pragma once

#include <string>
#include <utility>

#include "models/collective/collective_model.h"

namespace rubato {

/// Text as a quoted TOML string.
std::string quoted(const std::string& text);

/// The largest relative error in a platform file: beyond it a value is meaningless.
inline constexpr double kMostUncertainty = 1000;

/// The coefficients of a collective's formula, by their keys in platform files.
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
