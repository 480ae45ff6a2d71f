#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/raster_files.hpp"

/// The command as its users meet it: a process with arguments, two output streams and an exit code.
namespace tessera::testing {

struct ProcessResult {
  int code = -1;  ///< exit code; 128 and the signal's number where a signal ended it
  std::string output;
  std::string errors;
  std::uint64_t peak_bytes = 0;  ///< most memory that was resident at once

  /// The document on standard output, which holds exactly one; a test failure otherwise.
  nlohmann::json document() const {
    nlohmann::json parsed = nlohmann::json::parse(output, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << "not one JSON document: " << output;
    return parsed.is_discarded() ? nlohmann::json::object() : parsed;
  }
};

/// A program that an environment variable names, or nothing.
inline std::optional<std::string> program_of(const char* variable) {
  const char* path = std::getenv(variable);
  return path == nullptr || *path == '\0' ? std::nullopt : std::optional<std::string>(path);
}

/// Runs a program to its end. `meanwhile` is called with the process id once it has started, `before` in the new
/// process before the program starts.
inline ProcessResult run_process(const std::vector<std::string>& arguments,
                                 const std::function<void(pid_t)>& meanwhile = {},
                                 const std::function<void()>& before = {}) {
  const TemporaryFolder streams;
  const std::string output = streams.file("output");
  const std::string errors = streams.file("errors");
  std::vector<char*> list = c_strings(arguments);
  const pid_t child = ::fork();
  if (child == 0) {
    const int mode = O_WRONLY | O_CREAT | O_TRUNC;
    ::dup2(::open(output.c_str(), mode, 0600), STDOUT_FILENO);
    ::dup2(::open(errors.c_str(), mode, 0600), STDERR_FILENO);
    if (before) {
      before();
    }
    ::execv(list.front(), list.data());
    ::_exit(127);
  }
  if (child < 0) {
    ADD_FAILURE() << "no process";
    return {};
  }
  if (meanwhile) {
    meanwhile(child);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_text(output), read_text(errors), static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

/// Tests of the command in a folder of their own; skipped where TESSERA_COMMAND doesn't name it.
class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::string> command = program_of("TESSERA_COMMAND");
    if (!command) {
      GTEST_SKIP() << "TESSERA_COMMAND is not set";
    }
    command_ = *command;
  }

  ProcessResult tessera(std::vector<std::string> arguments, const std::function<void(pid_t)>& meanwhile = {},
                        const std::function<void()>& before = {}) const {
    arguments.insert(arguments.begin(), command_);
    return run_process(arguments, meanwhile, before);
  }
  const std::string& command() const { return command_; }

  /// The error's code in the one JSON document of a failure, with its exit code checked.
  std::string failure_of(std::vector<std::string> arguments, int code = 1, std::string* message = nullptr) const {
    arguments.push_back("--json");
    const ProcessResult result = tessera(arguments);
    EXPECT_EQ(result.code, code) << result.errors;
    return failure_in(result, message);
  }

  /// The error's code in what a failure printed.
  static std::string failure_in(const ProcessResult& result, std::string* message = nullptr) {
    const nlohmann::json document = result.document();
    EXPECT_EQ(document.value("schema", 0), 1);
    const nlohmann::json error = document.value("error", nlohmann::json::object());
    for (const char* field : {"command", "code", "operation", "operand", "rule", "values", "message"}) {
      EXPECT_TRUE(error.contains(field)) << field;
    }
    EXPECT_FALSE(error.value("message", std::string()).empty());
    if (message != nullptr) {
      *message = error.value("message", std::string());
    }
    return error.value("code", std::string());
  }

  std::string file(const std::string& name) const { return folder_.file(name); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  std::string command_;
  TemporaryFolder folder_;
};

}  // namespace tessera::testing
