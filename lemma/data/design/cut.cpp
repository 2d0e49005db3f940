// lemma/data/design/cut.cpp: numbers cut into intervals, named as R names them.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <lemma/data/design/parts.hpp>

namespace lemma {
namespace {

std::string end_of_interval(double value, int digits) {
  if (std::isinf(value)) return value > 0 ? " Inf" : "-Inf";  // the blank is R's
  return fmt::format("{:.{}g}", value + 0.0, digits);         // -0 is 0
}

}  // namespace

int Cut::piece_of(double value) const {
  if (std::isnan(value)) return -1;
  const auto last = static_cast<int>(breaks.size()) - 2;
  if (lowest && right && value == breaks.front()) return 0;
  if (lowest && !right && value == breaks.back()) return last;
  const auto next = right ? std::lower_bound(breaks.begin(), breaks.end(), value)
                          : std::upper_bound(breaks.begin(), breaks.end(), value);
  const auto piece = static_cast<int>(next - breaks.begin()) - 1;
  return piece > last ? -1 : piece;
}

std::vector<std::string> interval_labels(const Cut& cut, int digits) {
  constexpr int kAllDigits = 17;
  std::vector<std::string> ends;
  for (; ends.empty() || (digits <= kAllDigits && std::adjacent_find(ends.begin(), ends.end()) != ends.end());
       ++digits) {
    ends.clear();
    for (const double value : cut.breaks) ends.push_back(end_of_interval(value, digits));
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    labels.push_back(fmt::format("{}{},{}{}", cut.right ? '(' : '[', ends[i], ends[i + 1], cut.right ? ']' : ')'));
  if (cut.lowest && cut.right) labels.front().front() = '[';
  if (cut.lowest && !cut.right) labels.back().back() = ']';
  return labels;
}

std::vector<double> equal_breaks(double low, double high, int pieces) {
  const double range = high - low, wide = range > 0 ? range : low != 0 ? std::abs(low) : 1;
  const double from = range > 0 ? low : low - wide / 1000, to = range > 0 ? high : high + wide / 1000;
  std::vector<double> breaks{low - wide / 1000};
  for (int i = 1; i < pieces; ++i) breaks.push_back(from + i * ((to - from) / pieces));
  breaks.push_back(high + wide / 1000);
  return breaks;
}

}  // namespace lemma
