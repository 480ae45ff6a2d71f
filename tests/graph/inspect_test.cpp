#include "graph/inspect.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <tessera/error.hpp>

namespace tessera::detail {
namespace {

using Json = nlohmann::json;

GraphInspection example() {
  GraphInspection inspection;
  inspection.device = "a \"quoted\" device";
  inspection.resources = {
      {"values", InspectedResource::Kind::imported_vector, 4000, "float32", 1000, 3},
      {"partials", InspectedResource::Kind::transient, 384, "", 0, 0},
      {"unused", InspectedResource::Kind::declared_buffer, 64, "", 0, 0},
  };
  InspectedNode partial;
  partial.id = "sum/partials";
  partial.module = "reduction.float32";
  partial.constants = {256, 1};
  partial.groups = {65535, 2, 1};
  partial.uses = {{0, 0, 1000, Access::read, Stage::compute}, {1, 0, 384, Access::write, Stage::compute}};
  partial.workload = {1000, 4000, 384};
  partial.note = "row mode\nC:\\path";
  partial.host_conditions = {"outer", "inner"};
  InspectedNode total;
  total.id = "sum/\"total\"";
  total.module = "reduction_finish";
  total.indirect = InspectedNode::Indirect{1, 128};
  total.uses = {{1, 128, 140, Access::read, Stage::indirect}, {1, 0, 128, Access::read, Stage::compute}};
  total.gated = true;
  InspectedNode custom;
  custom.id = "apart";
  custom.kind = InspectedNode::Kind::custom;
  inspection.nodes = {partial, total, custom};

  std::vector<ScheduleNode> nodes;
  for (const InspectedNode& node : inspection.nodes) nodes.push_back({node.id, node.uses, {}});
  std::vector<ScheduleResource> resources;
  for (const InspectedResource& resource : inspection.resources) {
    resources.push_back({resource.id, resource.kind == InspectedResource::Kind::transient, resource.bytes});
  }
  inspection.schedule = make_schedule(nodes, resources);
  inspection.statistics.node_count = 3;
  inspection.statistics.invocations = std::numeric_limits<std::uint64_t>::max();
  inspection.statistics.node_order = {"sum/partials", "apart", "sum/\"total\""};
  return inspection;
}

TEST(InspectionJson, TellsEverything) {
  const Json json = Json::parse(inspection_json(example()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["device"], "a \"quoted\" device");

  EXPECT_EQ(json["resources"], Json::parse(R"([
    {"id": "values", "kind": "imported_vector", "bytes": 4000, "format": "float32", "rows": 1000, "chunks": 3,
     "lifetime": {"first": 0, "last": 0}, "scratch_offset": null},
    {"id": "partials", "kind": "transient", "bytes": 384, "lifetime": {"first": 0, "last": 2}, "scratch_offset": 0},
    {"id": "unused", "kind": "declared_buffer", "bytes": 64, "lifetime": null, "scratch_offset": null}])"));
  EXPECT_EQ(json["nodes"], Json::parse(R"([
    {"id": "sum/partials", "kind": "dispatch", "module": "reduction.float32", "constants": [256, 1],
     "groups": [65535, 2, 1], "indirect": null, "note": "row mode\nC:\\path", "host_conditions": ["outer", "inner"],
     "gated": false, "round": 0, "depends_on": [],
     "uses": [{"resource": "values", "begin": 0, "end": 1000, "unit": "rows", "access": "read", "stage": "compute"},
              {"resource": "partials", "begin": 0, "end": 384, "unit": "bytes", "access": "write", "stage": "compute"}],
     "workload": {"invocations": 1000, "read_bytes": 4000, "write_bytes": 384}},
    {"id": "apart", "kind": "custom", "note": "", "host_conditions": [], "gated": false, "round": 0, "depends_on": [],
     "uses": [], "workload": {"invocations": 0, "read_bytes": 0, "write_bytes": 0}},
    {"id": "sum/\"total\"", "kind": "dispatch", "module": "reduction_finish", "constants": [], "groups": [1, 1, 1],
     "indirect": {"resource": "partials", "byte_offset": 128}, "note": "", "host_conditions": [], "gated": true,
     "round": 1, "depends_on": ["sum/partials"],
     "uses": [{"resource": "partials", "begin": 128, "end": 140, "unit": "bytes", "access": "read",
               "stage": "indirect"},
              {"resource": "partials", "begin": 0, "end": 128, "unit": "bytes", "access": "read", "stage": "compute"}],
     "workload": {"invocations": 0, "read_bytes": 0, "write_bytes": 0}}])"));
  EXPECT_EQ(json["commands"],
            Json::parse(R"([{"node": "sum/partials"}, {"node": "apart"}, {"barrier": 0}, {"node": "sum/\"total\""}])"));
  EXPECT_EQ(json["barriers"], Json::parse(R"([{"source_stages": ["compute"], "source_writes": ["compute"],
    "destination_stages": ["compute", "indirect"], "destination_reads": ["compute", "indirect"],
    "destination_writes": []}])"));
  EXPECT_EQ(json["statistics"]["node_count"], 3);
  EXPECT_EQ(json["statistics"]["invocations"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json["statistics"]["node_order"][1], "apart");
}

TEST(InspectionJson, NamesAreStable) {
  std::vector<std::string> keys;
  const auto json = nlohmann::ordered_json::parse(inspection_json(example()));
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_EQ(keys,
            (std::vector<std::string>{"schema", "device", "resources", "nodes", "commands", "barriers", "statistics"}));
}

TEST(InspectionJson, AnEmptyGraphHasEmptyLists) {
  const Json json = Json::parse(inspection_json({}));
  EXPECT_TRUE(json["nodes"].is_array());
  EXPECT_TRUE(json["nodes"].empty());
  EXPECT_TRUE(json["commands"].empty());
}

TEST(InspectionJson, RepairsTextThatIsNotUtf8) {
  GraphInspection inspection;
  inspection.device = "broken \xff";
  EXPECT_EQ(Json::parse(inspection_json(inspection))["device"], "broken \xef\xbf\xbd");
}

// Statements of the subset of DOT that the export uses, or nothing where a line is none of them.
struct ParsedDot {
  std::vector<std::string> clusters;
  std::vector<std::string> nodes;
  std::vector<std::string> edges;
  int open = 0;
  bool valid = true;
};

ParsedDot parse_dot(const std::string& text) {
  static const std::string quoted = R"x("((?:[^"\\]|\\.)*)")x";
  static const std::regex begin("digraph tessera \\{");
  static const std::regex defaults("  node \\[shape=box\\];");
  static const std::regex cluster("  subgraph cluster_\\d+ \\{");
  static const std::regex label("    label=" + quoted + ";");
  static const std::regex node("    (node\\d+) \\[label=" + quoted + "(, style=dashed)?\\];");
  static const std::regex edge("  (node\\d+ -> node\\d+);");
  static const std::regex close(" *\\}");
  ParsedDot dot;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, begin) || std::regex_match(line, cluster)) {
      ++dot.open;
    } else if (std::regex_match(line, close)) {
      --dot.open;
    } else if (std::regex_match(line, match, label)) {
      dot.clusters.push_back(match[1]);
    } else if (std::regex_match(line, match, node)) {
      dot.nodes.push_back(match[1].str() + (match[3].matched ? "|dashed|" : "|") + match[2].str());
    } else if (std::regex_match(line, match, edge)) {
      dot.edges.push_back(match[1]);
    } else if (!std::regex_match(line, defaults)) {
      dot.valid = false;
    }
  }
  return dot;
}

TEST(InspectionDot, IsADigraphOfRounds) {
  const ParsedDot dot = parse_dot(inspection_dot(example()));
  EXPECT_TRUE(dot.valid);
  EXPECT_EQ(dot.open, 0);
  EXPECT_EQ(dot.clusters,
            (std::vector<std::string>{"round 0", "round 1, after barrier 0: compute to compute, indirect"}));
  EXPECT_EQ(dot.nodes,
            (std::vector<std::string>{
                R"(node0|sum/partials\nreduction.float32\n65535 x 2 x 1\nrow mode\nC:\\path\nif outer\nif inner)",
                "node2|apart", R"(node1|dashed|sum/\"total\"\nreduction_finish\nindirect)"}));
  EXPECT_EQ(dot.edges, (std::vector<std::string>{"node0 -> node1"}));
}

TEST(InspectionDot, OfAnEmptyGraph) {
  const ParsedDot dot = parse_dot(inspection_dot({}));
  EXPECT_TRUE(dot.valid);
  EXPECT_EQ(dot.open, 0);
  EXPECT_TRUE(dot.nodes.empty());
}

TEST(InspectionTrace, HoldsEachNodeInMicroseconds) {
  const std::vector<NodeTime> times{{1000, 2500, NodeOutcome::executed},
                                    {3500, 0, NodeOutcome::skipped},
                                    {4000, 500, NodeOutcome::resolved_on_device}};
  const Json trace = Json::parse(inspection_chrome_trace(example(), times));
  const Json& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["args"]["name"], "a \"quoted\" device");
  EXPECT_EQ(events[2]["name"], "sum/partials");
  EXPECT_EQ(events[2]["cat"], "reduction.float32");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["ts"], 1.0);
  EXPECT_EQ(events[2]["dur"], 2.5);
  EXPECT_EQ(events[2]["args"]["read_bytes"], 4000);
  EXPECT_EQ(events[3]["name"], "apart");
  EXPECT_EQ(events[3]["cat"], "custom");
  EXPECT_EQ(events[3]["ph"], "i");
  EXPECT_EQ(events[4]["name"], "sum/\"total\"");
  EXPECT_EQ(events[4]["args"]["outcome"], "resolved_on_device");
}

TEST(InspectionTrace, LaysDurationsOneAfterAnother) {
  const std::vector<double> durations{5, 0, 7};
  const std::vector<NodeReport> reports{
      {"a", NodeOutcome::executed}, {"b", NodeOutcome::skipped}, {"c", NodeOutcome::executed}};
  const auto times = consecutive_times(durations, reports);
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[1].begin_nanoseconds, 5);
  EXPECT_EQ(times[1].outcome, NodeOutcome::skipped);
  EXPECT_EQ(times[2].begin_nanoseconds, 5);
  EXPECT_EQ(times[2].nanoseconds, 7);
  EXPECT_EQ(consecutive_times(durations, {})[1].outcome, NodeOutcome::executed);
  EXPECT_THROW(consecutive_times(durations, std::span(reports).first(2)), Error);
}

TEST(InspectionTrace, RejectsTimesThatAreNone) {
  const auto rejected = [](const std::vector<NodeTime>& times) {
    try {
      inspection_chrome_trace(example(), times);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(rejected({}));
  EXPECT_TRUE(rejected({{0, 1}, {0, -1}, {0, 1}}));
  EXPECT_TRUE(rejected({{0, 1}, {std::numeric_limits<double>::quiet_NaN(), 1}, {0, 1}}));
  EXPECT_TRUE(rejected({{0, 1}, {0, std::numeric_limits<double>::infinity()}, {0, 1}}));
}

}  // namespace
}  // namespace tessera::detail
