#include <cmath>

#include <nlohmann/json.hpp>

#include "graph/inspect_names.hpp"
#include "graph/reject.hpp"

namespace tessera::detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr double nanoseconds_per_microsecond = 1000;

void require_times(const GraphInspection& inspection, std::span<const NodeTime> times) {
  const std::size_t count = inspection.schedule.order.size();
  if (times.size() != count) {
    reject(ErrorCode::invalid_argument, "chrome_trace", "times", "there is one time for each node",
           values_of("times", times.size(), "nodes", count));
  }
  for (std::size_t index = 0; index < count; ++index) {
    const NodeTime& time = times[index];
    if (!std::isfinite(time.begin_nanoseconds) || !std::isfinite(time.nanoseconds) || time.nanoseconds < 0) {
      reject(ErrorCode::invalid_argument, "chrome_trace", "times", "times are finite and durations not negative",
             values_of("node", inspection.nodes[inspection.schedule.order[index]].id, "begin", time.begin_nanoseconds,
                       "nanoseconds", time.nanoseconds));
    }
  }
}

Json event(const InspectedNode& node, std::uint32_t round, const NodeTime& time) {
  Json json{{"name", node.id},
            {"cat", node.module.empty() ? inspected_name(node.kind) : std::string_view(node.module)},
            {"ph", time.outcome == NodeOutcome::skipped ? "i" : "X"},
            {"ts", time.begin_nanoseconds / nanoseconds_per_microsecond}};
  if (time.outcome == NodeOutcome::skipped) {
    json["s"] = "t";
  } else {
    json["dur"] = time.nanoseconds / nanoseconds_per_microsecond;
  }
  json["pid"] = 1;
  json["tid"] = 1;
  json["args"] = {{"outcome", inspected_name(time.outcome)},
                  {"round", round},
                  {"invocations", node.workload.invocations},
                  {"read_bytes", node.workload.read_bytes},
                  {"write_bytes", node.workload.write_bytes}};
  if (!node.note.empty()) json["args"]["note"] = node.note;
  return json;
}

}  // namespace

std::vector<NodeTime> consecutive_times(std::span<const double> nanoseconds, std::span<const NodeReport> outcomes) {
  if (!outcomes.empty() && outcomes.size() != nanoseconds.size()) {
    reject(ErrorCode::invalid_argument, "chrome_trace", "outcomes", "there is one outcome for each node",
           values_of("outcomes", outcomes.size(), "nodes", nanoseconds.size()));
  }
  std::vector<NodeTime> times;
  double now = 0;
  for (std::size_t index = 0; index < nanoseconds.size(); ++index) {
    times.push_back({now, nanoseconds[index], outcomes.empty() ? NodeOutcome::executed : outcomes[index].outcome});
    now += nanoseconds[index];
  }
  return times;
}

std::string inspection_chrome_trace(const GraphInspection& inspection, std::span<const NodeTime> times) {
  require_times(inspection, times);
  const Json process{{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", inspection.device}}}};
  const Json thread{{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "graph"}}}};
  Json events = Json::array({process, thread});
  for (std::size_t index = 0; index < times.size(); ++index) {
    const std::uint32_t node = inspection.schedule.order[index];
    events.push_back(event(inspection.nodes[node], inspection.schedule.round[node], times[index]));
  }
  Json trace;
  trace["traceEvents"] = std::move(events);
  trace["displayTimeUnit"] = "ns";
  return trace.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tessera::detail
