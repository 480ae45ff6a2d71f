#include <nlohmann/json.hpp>

#include "graph/inspect_names.hpp"

namespace tessera::detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

Json stages_json(std::uint32_t mask) {
  Json names = Json::array();
  visit_stage_names(mask, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

Json resource_json(const GraphInspection& inspection, std::uint32_t index) {
  const InspectedResource& resource = inspection.resources[index];
  Json json{{"id", resource.id}, {"kind", inspected_name(resource.kind)}, {"bytes", resource.bytes}};
  if (resource.is_vector()) {
    json["format"] = resource.format;
    json["rows"] = resource.rows;
    json["chunks"] = resource.chunks;
  }
  if (resource.is_image()) {
    json["format"] = resource.format;
    json["width"] = resource.width;
    json["height"] = resource.height;
    json["usage"] = resource.usage;
  }
  json["lifetime"] = nullptr;
  if (const auto& lifetime = inspection.schedule.lifetimes[index]) {
    json["lifetime"] = {{"first", lifetime->first}, {"last", lifetime->last}};
  }
  const char* const place = resource.is_image() ? "physical_image" : "scratch_offset";
  json[place] = nullptr;
  if (const auto& placement = inspection.schedule.placement[index]) json[place] = *placement;
  return json;
}

Json use_json(const GraphInspection& inspection, const ResourceUse& use) {
  const InspectedResource& resource = inspection.resources[use.resource];
  const char* const unit = resource.is_image() ? "image" : resource.is_vector() ? "rows" : "bytes";
  Json json{{"resource", resource.id},
            {"begin", use.begin},
            {"end", use.end},
            {"unit", unit},
            {"access", inspected_name(use.access)},
            {"stage", inspected_name(use.stage)}};
  if (use.layout) json["layout"] = inspected_name(*use.layout);
  return json;
}

Json node_json(const GraphInspection& inspection, std::uint32_t index) {
  const InspectedNode& node = inspection.nodes[index];
  Json json{{"id", node.id}, {"kind", inspected_name(node.kind)}};
  if (node.kind == InspectedNode::Kind::dispatch) {
    json["module"] = node.module;
    json["constants"] = node.constants;
    json["groups"] = node.groups;
    json["indirect"] = nullptr;
    if (node.indirect) {
      json["indirect"] = {{"resource", inspection.resources[node.indirect->resource].id},
                          {"byte_offset", node.indirect->byte_offset}};
    }
  }
  json["note"] = node.note;
  json["host_conditions"] = node.host_conditions;
  json["gated"] = node.gated;
  json["round"] = inspection.schedule.round[index];
  json["depends_on"] = Json::array();
  for (const std::uint32_t dependency : inspection.schedule.dependencies[index]) {
    json["depends_on"].push_back(inspection.nodes[dependency].id);
  }
  json["uses"] = Json::array();
  for (const ResourceUse& use : node.uses) json["uses"].push_back(use_json(inspection, use));
  json["workload"] = {{"invocations", node.workload.invocations},
                      {"read_bytes", node.workload.read_bytes},
                      {"write_bytes", node.workload.write_bytes}};
  return json;
}

Json masks_json(const ScheduleBarrier& barrier) {
  return {{"source_stages", stages_json(barrier.source_stages)},
          {"source_writes", stages_json(barrier.source_writes)},
          {"destination_stages", stages_json(barrier.destination_stages)},
          {"destination_reads", stages_json(barrier.destination_reads)},
          {"destination_writes", stages_json(barrier.destination_writes)}};
}

/// Graphs without images have no list of them.
Json barrier_json(const GraphInspection& inspection, std::size_t index) {
  Json json = masks_json(inspection.schedule.barriers[index]);
  if (inspection.schedule.image_barriers.empty()) return json;
  json["images"] = Json::array();
  for (const ImageBarrier& barrier : inspection.schedule.image_barriers[index]) {
    Json image{{"image", inspection.resources[barrier.resource].id},
               {"before", inspected_name(barrier.before)},
               {"after", inspected_name(barrier.after)}};
    image.update(masks_json(barrier.masks));
    json["images"].push_back(std::move(image));
  }
  return json;
}

Json command_json(const GraphInspection& inspection, const ScheduleCommand& command) {
  if (command.kind == ScheduleCommand::Kind::barrier) return {{"barrier", command.index}};
  return {{"node", inspection.nodes[command.index].id}};
}

Json statistics_json(const GraphStatistics& statistics) {
  return {{"node_count", statistics.node_count},
          {"dispatch_count", statistics.dispatch_count},
          {"barrier_count", statistics.barrier_count},
          {"import_count", statistics.import_count},
          {"imported_bytes", statistics.imported_bytes},
          {"logical_transient_count", statistics.logical_transient_count},
          {"logical_transient_bytes", statistics.logical_transient_bytes},
          {"physical_transient_bytes", statistics.physical_transient_bytes},
          {"argument_bytes", statistics.argument_bytes},
          {"table_bytes", statistics.table_bytes},
          {"read_bytes", statistics.read_bytes},
          {"write_bytes", statistics.write_bytes},
          {"invocations", statistics.invocations},
          {"node_order", statistics.node_order},
          {"imported_image_bytes", statistics.imported_image_bytes},
          {"logical_transient_image_count", statistics.logical_transient_image_count},
          {"logical_transient_image_bytes", statistics.logical_transient_image_bytes},
          {"physical_transient_image_count", statistics.physical_transient_image_count},
          {"physical_transient_image_bytes", statistics.physical_transient_image_bytes}};
}

}  // namespace

std::string inspection_json(const GraphInspection& inspection) {
  const Schedule& schedule = inspection.schedule;
  Json json{{"schema", schema}, {"device", inspection.device}};
  for (const char* const list : {"resources", "nodes", "commands", "barriers"}) json[list] = Json::array();
  for (std::uint32_t index = 0; index < inspection.resources.size(); ++index) {
    json["resources"].push_back(resource_json(inspection, index));
  }
  for (const std::uint32_t index : schedule.order) json["nodes"].push_back(node_json(inspection, index));
  for (const ScheduleCommand& command : schedule.commands)
    json["commands"].push_back(command_json(inspection, command));
  for (std::size_t index = 0; index < schedule.barriers.size(); ++index) {
    json["barriers"].push_back(barrier_json(inspection, index));
  }
  json["statistics"] = statistics_json(inspection.statistics);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tessera::detail
