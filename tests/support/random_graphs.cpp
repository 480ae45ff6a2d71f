#include "support/random_graphs.hpp"

#include <algorithm>
#include <string>

#include "support/random_data.hpp"

namespace tessera::test {

namespace {

using detail::Access;
using detail::ResourceUse;
using detail::ScheduleNode;
using detail::ScheduleResource;
using detail::Stage;

constexpr std::uint64_t import_rows = 240;

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomGraphShape& shape) : bits_(seed), shape_(shape) {}

  RandomGraph generate() {
    const std::uint64_t imports = 1 + bits_.below(shape_.imports);
    const std::uint64_t transients = bits_.below(shape_.transients + 1U);
    for (std::uint64_t index = 0; index < imports + transients; ++index) add_resource(index >= imports);
    if (shape_.images > 0) add_images();
    node_count_ = 1 + bits_.below(shape_.nodes);
    for (std::uint64_t index = 0; index < node_count_; ++index) add_node(index);
    if (shape_.dependencies != ExplicitDependencies::none) add_dependencies();
    return graph_;
  }

 private:
  void add_resource(bool transient) {
    const std::string id = (transient ? "transient " : "import ") + std::to_string(graph_.resources.size());
    const std::uint64_t bytes = transient ? bits_.below(20) == 0 ? 0 : 1 + bits_.below(3000) : import_rows;
    graph_.resources.push_back({id, transient, bytes});
    written_.push_back(!transient);
  }

  void add_images() {
    first_image_ = graph_.resources.size();
    const std::uint64_t imports = 1 + bits_.below(shape_.images);
    const std::uint64_t transients = bits_.below(shape_.images + 1U);
    for (std::uint64_t index = 0; index < imports + transients; ++index) {
      const bool transient = index >= imports;
      const std::string id = (transient ? "transient image " : "image ") + std::to_string(index);
      graph_.resources.push_back({id, transient, 64, 1 + static_cast<std::uint32_t>(bits_.below(2))});
    }
  }

  /// Uses of one image that go together in a node.
  void add_image_use(ScheduleNode& node, Access access, ImageLayout layout, Stage stage) {
    const std::uint64_t count = graph_.resources.size() - first_image_;
    const auto reached = graph_.nodes.size() * count / node_count_;
    const auto image = static_cast<std::uint32_t>(first_image_ + (reached + bits_.below(3)) % count);
    const bool known =
        std::any_of(node.uses.begin(), node.uses.end(), [&](const ResourceUse& use) { return use.resource == image; });
    if (!known) node.uses.push_back({image, 0, 1, access, stage, layout});
  }

  void add_image_uses(ScheduleNode& node) {
    for (std::uint64_t use = bits_.below(3); use > 0; --use) {
      switch (bits_.below(6)) {
        case 0:
          add_image_use(node, Access::read, ImageLayout::shader_read, Stage::compute);
          break;
        case 1:
          add_image_use(node, Access::read, ImageLayout::general, Stage::compute);
          break;
        case 2:
          add_image_use(node, Access::write, ImageLayout::general, Stage::compute);
          break;
        case 3:
          add_image_use(node, Access::read_write, ImageLayout::general, Stage::compute);
          break;
        case 4:
          add_image_use(node, Access::read, ImageLayout::copy_source, Stage::transfer);
          break;
        default:
          add_image_use(node, Access::write, ImageLayout::copy_target, Stage::transfer);
          break;
      }
    }
  }

  void add_render_node(std::uint64_t index) {
    ScheduleNode node;
    node.id = "node " + std::to_string(index);
    for (std::uint64_t use = 1 + bits_.below(2); use > 0; --use) {
      add_image_use(node, Access::read_write, ImageLayout::attachment, Stage::color);
    }
    for (std::uint64_t use = bits_.below(3); use > 0; --use) {
      const ImageLayout layout = bits_.below(2) == 0 ? ImageLayout::shader_read : ImageLayout::general;
      add_image_use(node, Access::read, layout, bits_.below(2) == 0 ? Stage::vertex : Stage::fragment);
    }
    for (std::uint64_t use = bits_.below(3); use > 0; --use) {
      static constexpr Stage stages[] = {Stage::vertex, Stage::fragment, Stage::indirect};
      ResourceUse read = random_use(stages[bits_.below(3)]);
      read.access = Access::read;
      node.uses.push_back(read);
    }
    graph_.nodes.push_back(std::move(node));
  }

  /// Mostly one of the few that the graph has come to, so that lifetimes end.
  std::uint64_t random_resource() {
    const std::uint64_t count = written_.size();  // buffers
    if (bits_.below(5) == 0) return bits_.below(count);
    const std::uint64_t reached = graph_.nodes.size() * count / node_count_;
    return (reached + bits_.below(2)) % count;
  }

  ResourceUse random_use(Stage stage) {
    const std::uint64_t choice = random_resource();
    ResourceUse use{static_cast<std::uint32_t>(choice), 0, graph_.resources[choice].bytes, Access::read, stage};
    switch (bits_.below(4)) {
      case 0:  // any slice, also an empty one
        use.begin = bits_.below(use.end + 1);
        use.end = use.begin + bits_.below(use.end - use.begin + 1);
        break;
      case 1: {  // one of four parts
        const std::uint64_t part = bits_.below(4);
        use.begin = use.end * part / 4;
        use.end = use.end * (part + 1) / 4;
        break;
      }
      default:
        break;
    }
    static constexpr Access accesses[] = {Access::read,  Access::read,  Access::read,
                                          Access::write, Access::write, Access::read_write};
    use.access = accesses[bits_.below(6)];
    if (!written_[choice] && bits_.below(4) != 0) use.access = Access::write;
    if (use.access != Access::read) written_[choice] = true;
    return use;
  }

  void add_node(std::uint64_t index) {
    if (shape_.images > 0 && bits_.below(4) == 0) {
      add_render_node(index);
      return;
    }
    ScheduleNode node;
    node.id = "node " + std::to_string(index);
    const std::uint64_t kind = bits_.below(20);
    const Stage stage = kind < 14 ? Stage::compute : Stage::transfer;
    const std::uint64_t uses = kind == 19 ? 0 : 1 + bits_.below(4);
    for (std::uint64_t use = 0; use < uses; ++use) node.uses.push_back(random_use(stage));
    if (kind < 5) {
      ResourceUse gate = random_use(Stage::indirect);
      gate.access = Access::read;
      gate.end = std::min(gate.end, gate.begin + 12);
      node.uses.insert(node.uses.begin() + static_cast<std::ptrdiff_t>(bits_.below(node.uses.size() + 1)), gate);
    }
    // A custom node that copies and computes.
    if (kind == 18) node.uses.push_back(random_use(Stage::compute));
    if (shape_.images > 0) add_image_uses(node);
    graph_.nodes.push_back(std::move(node));
  }

  void add_dependencies() {
    const std::uint64_t count = graph_.nodes.size();
    for (std::uint64_t index = 0; index < count; ++index) {
      if (bits_.below(8) != 0) continue;
      const std::uint64_t bound = shape_.dependencies == ExplicitDependencies::any ? count : index + 1;
      graph_.nodes[index].depends_on.push_back(static_cast<std::uint32_t>(bits_.below(bound)));
    }
  }

  RandomBits bits_;
  RandomGraphShape shape_;
  RandomGraph graph_;
  std::uint64_t node_count_ = 0;
  std::vector<bool> written_;
  std::uint64_t first_image_ = 0;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed, const RandomGraphShape& shape) {
  return Generator(seed, shape).generate();
}

}  // namespace tessera::test
