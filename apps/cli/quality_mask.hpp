#pragma once

#include <string>
#include <vector>

#include <tessera/residency/derived_sources.hpp>

#include "input_options.hpp"

// What quality bands of known products mean.
namespace tessera::cli {

std::vector<std::string> quality_preset_names();
/// The presets with their bits and values, for help.
std::string quality_presets_text();
/// The rule that the options name. Throws nothing for options that `InputOptions::validate` passed.
residency::QualityRule quality_rule(const InputOptions& options);

}  // namespace tessera::cli
