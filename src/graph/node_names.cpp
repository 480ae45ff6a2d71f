#include "graph/graph_state.hpp"
#include "graph/reject.hpp"

namespace tessera::detail {

std::string NodeNames::claim(std::string_view parent, std::string_view base, bool by_application,
                             const std::shared_ptr<const Lowering>& owner) {
  std::string path(parent);
  if (!path.empty()) path += '/';
  path += base;
  const auto add = [&](const std::string& name) {
    journal_.push_back(name);
    entries_.emplace(name, NameEntry{.owner = owner, .by_application = by_application});
    return name;
  };
  const auto known = entries_.find(path);
  if (known == entries_.end()) return add(path);
  // One operation added twice gets a new name; two that were given the same id are a mistake.
  if (by_application && known->second.owner != owner) {
    reject(ErrorCode::duplicate_id, "graph", path, "every operation with an id has its own");
  }
  std::string unique;
  do {
    unique = path + "-" + std::to_string(known->second.next_suffix++);
  } while (entries_.contains(unique));
  return add(unique);
}

void NodeNames::roll_back(std::size_t journal_size) {
  for (std::size_t index = journal_size; index < journal_.size(); ++index) entries_.erase(journal_[index]);
  journal_.resize(journal_size);
}

}  // namespace tessera::detail
