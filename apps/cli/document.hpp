#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "input_rasters.hpp"
#include "run.hpp"

// What commands that read rasters have in common at their beginning and end.
namespace tessera::cli {

/// `-b`: band numbers from 1, repeated or separated by commas.
struct BandNumbers {
  std::vector<std::uint32_t> numbers;

  void add_option(CLI::App& command, const std::string& default_text);
  /// The bands asked for, or all. Throws `band_out_of_range`.
  std::vector<BandChoice> choose(const InputRasters& inputs, std::size_t input) const;
  /// The one band of a command that works on one. Throws `UsageError` where the file has several and none is named.
  BandChoice choose_one(const InputRasters& inputs, std::size_t input) const;
};

/// The beginning of a job's document: schema and domain.
nlohmann::ordered_json job_document(const InputOptions& options);
/// Says, once, that kernels work on float32 where the samples are wider.
void note_rounding(const RunOptions& run, const raster::BandInfo& info);
/// Prints the document with --json, reports skipped blocks, and says how the job ended.
ExitCode finish_job(const RunOptions& run, const InputRasters& inputs, nlohmann::ordered_json& document);

}  // namespace tessera::cli
