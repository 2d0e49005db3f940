// lemma/model/held_out.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/model/held_out.hpp>
#include <lemma/model/row_hash.hpp>
#include <map>

namespace lemma {
namespace {

constexpr int kFolds = 5;
constexpr double kLeast = 1e-15;  // probabilities below count as that

}  // namespace

double HeldOutPath::best() const {
  Index found = -1;
  for (Index l = 0; l < loss.size(); ++l)
    if (std::isfinite(loss(l)) && (found < 0 || loss(l) < loss(found))) found = l;
  require(found >= 0, "no penalty of the path could be fitted in every fold; give --lambda a number");
  return lambda(found);
}

std::vector<int> folds_by_content(std::string_view method, const Rows& rows, const Execution& execution) {
  const RowKey key = key_of(rows, true);
  std::vector<std::uint64_t> hash(static_cast<std::size_t>(rows.count()));
  Labels label(hash.size());
  std::vector<double> weight(hash.size());
  for_each_block(rows, execution, [&](const Block& block) {
    RowHashes hashes;
    hash_rows(block, 0, block.rows(), rows, key, hashes);
    for (Index i = 0; i < block.rows(); ++i) {
      const auto at = static_cast<std::size_t>(block.first + i);
      hash[at] = hashes.ascending[static_cast<std::size_t>(i)];
      label[at] = block.label[static_cast<std::size_t>(i)];
      weight[at] = block.weight_of(i);
    }
  });
  std::vector<std::map<std::uint64_t, int>> of_class(rows.classes.size());
  for (std::size_t i = 0; i < hash.size(); ++i)
    if (weight[i] > 0) of_class[static_cast<std::size_t>(label[i])].emplace(hash[i], 0);
  int next = 0;  // goes on from class to class, so that folds of few rows are alike
  for (std::size_t k = 0; k < of_class.size(); ++k) {
    if (of_class[k].size() < 2)
      throw Error(fmt::format(
          "{}: lambda auto holds rows out, and class '{}' has {} row that differs from others; give --lambda a number",
          method, rows.classes[k], of_class[k].size()));
    for (auto& [each, fold] : of_class[k]) fold = next++ % kFolds;
  }
  std::vector<int> out(hash.size(), 0);
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto& known = of_class[static_cast<std::size_t>(label[i])];
    if (const auto found = known.find(hash[i]); found != known.end()) out[i] = found->second;
  }
  return out;
}

void HeldOutLoss::add(const Matrix& probabilities, const Block& block) {
  for (Index i = 0; i < block.rows(); ++i) {
    const double p = probabilities(i, block.label[static_cast<std::size_t>(i)]), w = block.weight_of(i);
    if (w == 0) continue;
    sum -= w * std::log(std::max(p, kLeast));
    weight += w;
  }
}

void check_choice(std::string_view method, const std::optional<double>& lambda, const Vector& path,
                  const Vector& loss) {
  require(lambda.has_value(), fmt::format("{}: the penalty of the model is not known", method));
  require(path.size() == loss.size() && path.allFinite(), fmt::format("{}: not one loss for each penalty", method));
}

std::string choice_text(const Vector& path) {
  if (path.size() == 0) return "";
  return fmt::format(", chosen among {} from {} to {} by the loss of held-out rows", path.size(),
                     format_significant(path.minCoeff(), 3), format_significant(path.maxCoeff(), 3));
}

}  // namespace lemma
