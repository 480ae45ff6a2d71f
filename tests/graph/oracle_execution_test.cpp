#include <algorithm>
#include <any>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "device/internal.hpp"
#include "graph/compiled_images.hpp"
#include "graph/compiled_state.hpp"
#include "graph/encoding_state.hpp"
#include "graph_support.hpp"
#include "support/barrier_oracle.hpp"
#include "support/random_data.hpp"

// Random graphs of real nodes and containers: what they compute is compared with the same operations carried out on the
// host one after another, and what they recorded is replayed by the oracle, over encodings with changing host
// conditions and over steps.
namespace tessera::test {
namespace {

constexpr std::uint32_t import_count = 2;
constexpr std::uint32_t buffer_count = 6;  ///< imports and transients
constexpr std::uint32_t word_count = 12;

struct Word {
  std::uint32_t buffer = 0;
  std::uint32_t index = 0;
};

enum class Kind { set, add, copy, custom_copy, host_conditional, conditional, loop };

/// One part of a program, for the device and for the host.
struct Part {
  Kind kind = Kind::set;
  Word target;
  Word source{};              ///< of copies
  std::uint32_t words = 1;    ///< that copies move
  std::uint32_t value = 0;    ///< set or added; the bit of the parameters that a host condition looks at
  Word predicate{};           ///< of conditionals and loops
  std::uint32_t minimum = 0;  ///< rounds
  std::uint32_t maximum = 1;
  std::vector<Part> body{};
};

using Memory = std::vector<std::vector<std::uint32_t>>;

class ProgramGenerator {
 public:
  explicit ProgramGenerator(std::uint64_t seed) : bits_(seed) {}

  std::vector<Part> generate() {
    std::vector<Part> program;
    const std::uint64_t length = 6 + bits_.below(20);
    for (std::uint64_t place = 0; place < length; ++place) {
      // Few transients at a time, so that their lifetimes end.
      near_ = static_cast<std::uint32_t>(import_count + place * (buffer_count - import_count) / length);
      const Part part = random_part(0);
      initialize(part, program);
      program.push_back(part);
    }
    return program;
  }

 private:
  Word random_word() {
    const std::uint64_t choice = bits_.below(4);
    const auto index = static_cast<std::uint32_t>(bits_.below(word_count));
    if (choice < 2) return {static_cast<std::uint32_t>(choice), index};
    return {std::min<std::uint32_t>(near_ + static_cast<std::uint32_t>(choice - 2), buffer_count - 1), index};
  }

  Part random_part(int depth, bool on_device = false) {
    const std::uint64_t choice = bits_.below(depth < 2 ? 14 : 8);
    Part part{.target = random_word(), .value = static_cast<std::uint32_t>(bits_.below(3))};
    if (choice < 2) {
      part.kind = Kind::set;
    } else if (choice < 5) {
      part.kind = Kind::add;
    } else if (choice < 8) {
      part.kind = choice == 7 && !on_device ? Kind::custom_copy : Kind::copy;
      part.words = 1 + static_cast<std::uint32_t>(bits_.below(4));
      part.source = random_word();
      part.source.index = std::min(part.source.index, word_count - part.words);
      part.target.index = std::min(part.target.index, word_count - part.words);
      if (part.source.buffer == part.target.buffer) part.source.buffer = part.target.buffer == 0 ? 1 : 0;
    } else {
      part.kind = choice < 10 ? Kind::host_conditional : choice < 12 ? Kind::conditional : Kind::loop;
      part.predicate = random_word();
      part.maximum = 1 + static_cast<std::uint32_t>(bits_.below(3));
      part.minimum = static_cast<std::uint32_t>(bits_.below(part.maximum + 1));
      const bool gated = on_device || part.kind != Kind::host_conditional;
      const std::uint64_t length = 1 + bits_.below(3);
      for (std::uint64_t place = 0; place < length; ++place) part.body.push_back(random_part(depth + 1, gated));
    }
    return part;
  }

  /// Sets every word of the transients that a part touches for the first time.
  void initialize(const Part& part, std::vector<Part>& program) {
    for (const Word& word : {part.target, part.source, part.predicate}) {
      if (word.buffer < import_count || initialized_[word.buffer]) continue;
      initialized_[word.buffer] = true;
      for (std::uint32_t index = 0; index < word_count; ++index) {
        program.push_back({.kind = Kind::set, .target = {word.buffer, index}, .value = index % 2});
      }
    }
    for (const Part& inner : part.body) initialize(inner, program);
  }

  RandomBits bits_;
  std::uint32_t near_ = import_count;
  std::vector<bool> initialized_ = std::vector<bool>(buffer_count, false);
};

void run_on_host(const std::vector<Part>& program, std::uint32_t parameters, Memory& memory) {
  const auto at = [&](const Word& word) -> std::uint32_t& { return memory[word.buffer][word.index]; };
  for (const Part& part : program) {
    switch (part.kind) {
      case Kind::set:
        at(part.target) = part.value;
        break;
      case Kind::add:
        at(part.target) += part.value;
        break;
      case Kind::copy:
      case Kind::custom_copy:
        std::copy_n(&at(part.source), part.words, &at(part.target));
        break;
      case Kind::host_conditional:
        if (((parameters >> part.value) & 1U) != 0) run_on_host(part.body, parameters, memory);
        break;
      case Kind::conditional:
        if (at(part.predicate) != 0) run_on_host(part.body, parameters, memory);
        break;
      case Kind::loop:
        for (std::uint32_t round = 0; round < part.maximum; ++round) {
          if (round >= part.minimum && at(part.predicate) == 0) break;
          run_on_host(part.body, parameters, memory);
        }
        break;
    }
  }
}

OperationList to_operations(const std::vector<Part>& program, const std::vector<GraphBuffer>& buffers) {
  const auto view = [&](const Word& word, std::uint32_t words = 1) {
    return buffers[word.buffer].view<std::uint32_t>(words, {.byte_offset = 4 * std::uint64_t{word.index}});
  };
  OperationList operations;
  for (const Part& part : program) {
    switch (part.kind) {
      case Kind::set:
        operations.emplace_back(set_word(view(part.target), part.value));
        break;
      case Kind::add:
        operations.emplace_back(add_word(view(part.target), part.value));
        break;
      case Kind::copy:
        operations.emplace_back(CopyNode{.source = buffers[part.source.buffer],
                                         .source_offset = 4 * std::uint64_t{part.source.index},
                                         .target = buffers[part.target.buffer],
                                         .target_offset = 4 * std::uint64_t{part.target.index},
                                         .bytes = 4 * std::uint64_t{part.words}});
        break;
      case Kind::custom_copy: {
        const VectorView source = view(part.source, part.words);
        const VectorView target = view(part.target, part.words);
        operations.emplace_back(CustomNode{
            .uses = {{.view = source, .access = NodeAccess::read}, {.view = target, .access = NodeAccess::write}},
            .record = [source, target, bytes = 4 * std::uint64_t{part.words}](Encoder& encoder,
                                                                              const NodeContext& context) {
              const Chunk from = context.chunks(source).front();
              const Chunk to = context.chunks(target).front();
              encoder.copy(from.buffer, from.byte_offset, to.buffer, to.byte_offset, bytes);
            }});
        break;
      }
      case Kind::host_conditional:
        operations.emplace_back(HostConditional{.evaluate =
                                                    [bit = part.value](const std::any& parameters) {
                                                      return ((std::any_cast<std::uint32_t>(parameters) >> bit) & 1U) !=
                                                             0;
                                                    },
                                                .body = to_operations(part.body, buffers)});
        break;
      case Kind::conditional:
        operations.emplace_back(
            Conditional{.predicate = view(part.predicate), .body = to_operations(part.body, buffers)});
        break;
      case Kind::loop:
        operations.emplace_back(Loop{.maximum_iterations = part.maximum,
                                     .minimum_iterations = part.minimum,
                                     .predicate = view(part.predicate),
                                     .body = to_operations(part.body, buffers)});
        break;
    }
  }
  return operations;
}

class RandomExecutions : public GraphFixture {
 protected:
  /// A compiled program, its memory on the device and on the host, and what was recorded so far.
  struct Scene {
    std::vector<Part> program;
    std::vector<Buffer> imports;
    Memory memory;
    CompiledGraph compiled;
    std::vector<detail::RecordedCommand> recorded{};
  };

  static Scene make_scene(std::uint64_t seed) {
    Memory memory(buffer_count, std::vector<std::uint32_t>(word_count));
    RandomBits bits(seed + 1);
    for (auto& words_of_buffer : memory) {
      for (std::uint32_t& value : words_of_buffer) value = static_cast<std::uint32_t>(bits.below(3));
    }
    Graph graph(device());
    std::vector<Buffer> imports;
    std::vector<GraphBuffer> buffers;
    for (std::uint32_t index = 0; index < import_count; ++index) {
      imports.push_back(words(memory[index]));
      buffers.push_back(graph.import(imports.back()));
    }
    while (buffers.size() < buffer_count) buffers.push_back(graph.transient(4 * word_count));
    const std::vector<Part> program = ProgramGenerator(seed).generate();
    for (const Operation& operation : to_operations(program, buffers)) graph.add(operation);
    return {.program = program, .imports = imports, .memory = memory, .compiled = graph.compile()};
  }

  static void note(Scene& scene, const Encoding& encoding) {
    const auto commands = detail::recorded_commands(encoding.state());
    scene.recorded.insert(scene.recorded.end(), commands.begin(), commands.end());
  }

  static void expect_memory(Scene& scene, std::uint32_t parameters) {
    run_on_host(scene.program, parameters, scene.memory);
    for (std::uint32_t index = 0; index < import_count; ++index) {
      EXPECT_EQ(read(scene.imports[index]), scene.memory[index]) << "import " << index;
    }
  }

  static void expect_right_recording(Scene& scene) {
    const detail::Program& program = *scene.compiled.state().program;
    const std::vector<detail::ScheduleResource> resources = detail::schedule_resources(program.parts);
    EXPECT_THAT(check_recording({program.schedule_nodes, resources, program.schedule.placement}, scene.recorded),
                testing::IsEmpty());
    EXPECT_THAT(check_schedule(program.schedule_nodes, resources, program.schedule), testing::IsEmpty());
    // Without barriers it must not pass, else the check says nothing.
    std::erase_if(scene.recorded,
                  [](const auto& command) { return command.kind == detail::RecordedCommand::Kind::barrier; });
    EXPECT_THAT(check_recording({program.schedule_nodes, resources, program.schedule.placement}, scene.recorded),
                testing::Not(testing::IsEmpty()));
  }
};

TEST_F(RandomExecutions, DoWhatTheHostDoesAndRecordEnoughBarriers) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene = make_scene(seed);
    for (const std::uint32_t parameters : {7U, 0U, static_cast<std::uint32_t>(seed % 8), 5U}) {
      note(scene, execute(scene.compiled, {}, {.parameters = parameters}));
      expect_memory(scene, parameters);
    }
    expect_right_recording(scene);
  }
}

TEST_F(RandomExecutions, DoSoInSteps) {
  for (std::uint64_t seed = 100; seed < 130 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scene scene = make_scene(seed);
    for (const std::uint32_t parameters : {7U, static_cast<std::uint32_t>(seed % 8)}) {
      Execution execution = scene.compiled.execute_in_steps({.invocations = 1000000, .nodes = 1 + seed % 9});
      while (!execution.done()) {
        Encoder encoder = device().encoder();
        note(scene, execution.encode_next(encoder, {}, {.parameters = parameters}));
        device().submit(std::move(encoder)).wait();
      }
      expect_memory(scene, parameters);
    }
    expect_right_recording(scene);
  }
}

}  // namespace
}  // namespace tessera::test
