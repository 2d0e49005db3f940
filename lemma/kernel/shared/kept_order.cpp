// lemma/kernel/shared/kept_order.cpp
#include <algorithm>
#include <lemma/kernel/shared/kept_order.hpp>

namespace lemma {

KernelRows in_kept_order(const Kernel& kernel, const KeptRows& kept, KernelRows data,
                         const std::function<Ties()>& ties) {
  if (kernel.contains<Precomputed>()) return data;
  const auto order = found_again(kept.points(kernel, {}), data.points, ties);
  if (!order || std::is_sorted(order->begin(), order->end())) return data;
  data.points = data.points.select(*order);
  data.y = Vector(data.y(*order));
  data.weight = Vector(data.weight(*order));
  Labels label;
  for (const Index i : *order)
    if (!data.label.empty()) label.push_back(data.label[at(i)]);
  data.label = std::move(label);
  return data;
}

}  // namespace lemma
