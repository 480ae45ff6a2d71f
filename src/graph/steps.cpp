#include "graph/steps.hpp"

#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "graph/reject.hpp"

namespace tessera::detail {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// One quantity that a budget may limit.
struct Quantity {
  std::optional<std::uint64_t> limit;
  std::uint64_t spent = 0;

  bool fits(std::uint64_t cost) const noexcept {
    const std::uint64_t most = limit.value_or(no_limit);
    return spent <= most && cost <= most - spent;
  }
  bool is_used_up() const noexcept { return limit && spent >= *limit; }
};

std::uint64_t require_positive(std::string_view name, std::uint64_t limit) {
  if (limit == 0) reject(ErrorCode::invalid_argument, "execute_in_steps", name, "a limit is at least 1");
  return limit;
}

std::optional<std::uint64_t> require_positive(std::string_view name, const std::optional<std::uint64_t>& limit) {
  if (limit) require_positive(name, *limit);
  return limit;
}

/// What the current step has taken so far.
class StepCosts {
 public:
  explicit StepCosts(const WorkBudget& budget)
      : quantities_{Quantity{require_positive("invocations", budget.invocations)},
                    Quantity{require_positive("nodes", budget.nodes)},
                    Quantity{require_positive("read_bytes", budget.read_bytes)},
                    Quantity{require_positive("write_bytes", budget.write_bytes)}} {}

  bool fits(const Workload& cost) const noexcept {
    const Costs costs = costs_of(cost);
    for (std::size_t index = 0; index < costs.size(); ++index) {
      if (!quantities_[index].fits(costs[index])) return false;
    }
    return true;
  }
  void spend(const Workload& cost) noexcept {
    const Costs costs = costs_of(cost);
    for (std::size_t index = 0; index < costs.size(); ++index) quantities_[index].spent += costs[index];
  }
  bool are_used_up() const noexcept {
    for (const Quantity& quantity : quantities_) {
      if (quantity.is_used_up()) return true;
    }
    return false;
  }
  void close(ExecutionStep& step) noexcept {
    step.invocations = quantities_[0].spent;
    step.read_bytes = quantities_[2].spent;
    step.write_bytes = quantities_[3].spent;
    for (Quantity& quantity : quantities_) quantity.spent = 0;
  }

 private:
  using Costs = std::array<std::uint64_t, 4>;
  static Costs costs_of(const Workload& cost) noexcept {
    return {cost.invocations, 1, cost.read_bytes, cost.write_bytes};
  }
  std::array<Quantity, 4> quantities_;
};

}  // namespace

std::vector<ExecutionStep> plan_steps(std::span<const Workload> costs, const WorkBudget& budget) {
  StepCosts spent(budget);
  std::vector<ExecutionStep> steps;
  for (std::size_t node = 0; node < costs.size();) {
    ExecutionStep step{.first_node = node, .exceeds_budget = !spent.fits(costs[node])};
    do {
      spent.spend(costs[node]);
      ++node;
    } while (node < costs.size() && !spent.are_used_up() && spent.fits(costs[node]));
    step.next_node = node;
    spent.close(step);
    steps.push_back(step);
  }
  return steps;
}

}  // namespace tessera::detail
