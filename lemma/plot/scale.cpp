// lemma/plot/scale.cpp
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/text.hpp>
#include <lemma/data/dates.hpp>
#include <lemma/data/expression.hpp>
#include <lemma/plot/scale.hpp>
#include <limits>

namespace lemma::plot {
namespace {

/// The least of 1, 2, 5 times a power of ten that is at least this.
double round_up(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/// The next smaller one: 1, 2, 5 and 10 follow one another.
double next_below(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  const double factor = step / power;
  return factor > 4 ? 2 * power : factor > 1.5 ? power : power / 2;
}

/// With as many decimals as tell ticks `step` apart.
std::string number_text(double value, double step) {
  const double size = std::max(std::abs(value), step);
  if (value == 0) return "0";
  if (size >= 1e7 || step < 1e-5)
    return fmt::format("{:.{}e}", value,
                       std::max(0, static_cast<int>(std::lround(std::floor(std::log10(std::abs(value))) -
                                                                std::floor(std::log10(step))))));
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  if (decimals == 0 && size >= 1e4) return format_count(std::llround(value));
  return format_fixed(value, decimals);
}

std::vector<Tick> linear_ticks(double from, double to, int most) {
  std::vector<Tick> out;
  double step = round_up((to / 2 - from / 2) / std::max(1, most) * 2);
  if (!std::isfinite(step) || !(step > 0)) return out;
  const auto ticks_of = [&](double s) { return std::floor(to / s + 1e-9) - std::ceil(from / s - 1e-9) + 1; };
  if (const double finer = next_below(step); ticks_of(step) < 2 || ticks_of(finer) <= most + 1) step = finer;
  const double first = std::ceil(from / step - 1e-9), last = std::floor(to / step + 1e-9);
  for (double k = first; k <= last && out.size() < 100; ++k) out.push_back({k * step, number_text(k * step, step)});
  return out;
}

/// Powers of ten, or 1, 2 and 5 times them where there is room. `from` and `to` are logarithms.
std::vector<Tick> log_ticks(double from, double to, int most) {
  const auto text = [](double value) {
    return value >= 1e-4 && value < 1e6 ? shortest(value) : fmt::format("{:.0e}", value);
  };
  std::vector<Tick> out;
  const double decades = to - from;
  if (decades * 3 <= most && decades > 0.7) {
    for (double k = std::floor(from); k <= std::ceil(to); ++k)
      for (const double factor : {1.0, 2.0, 5.0})
        if (const double at = factor * std::pow(10.0, k); std::log10(at) >= from - 1e-9 && std::log10(at) <= to + 1e-9)
          out.push_back({at, text(at)});
    return out;
  }
  if (decades <= 0.7) return linear_ticks(std::pow(10.0, from), std::pow(10.0, to), most);
  const double step = std::max(1.0, std::ceil(decades / std::max(1, most)));
  for (double k = std::ceil(from - 1e-9); k <= to + 1e-9; k += step)
    out.push_back({std::pow(10.0, k), text(std::pow(10.0, k))});
  return out;
}

/// Days since 1970 of the first of a month; months count from year 0.
double first_of(int months) {
  using namespace std::chrono;
  const auto date = year_month_day{year{months / 12}, month{static_cast<unsigned>(months % 12 + 1)}, day{1}};
  return static_cast<double>(sys_days{date}.time_since_epoch().count());
}
int month_of(double days) {
  using namespace std::chrono;
  const year_month_day date{sys_days{std::chrono::days{static_cast<int>(std::floor(days))}}};
  return static_cast<int>(date.year()) * 12 + static_cast<int>(static_cast<unsigned>(date.month())) - 1;
}

/// At round years, months, days or hours.
std::vector<Tick> time_ticks(double from, double to, int most) {
  constexpr double kFarthest = 365.0 * 9000;
  if (std::abs(from) > kFarthest || std::abs(to) > kFarthest) return linear_ticks(from, to, most);
  most = std::max(1, most);
  std::vector<Tick> out;
  const double span = to - from;
  for (const int step : {1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000}) {
    if (span / 30.44 / step > most || span < 60 * std::min(most, 3)) continue;
    for (int m = (month_of(from) + step - 1) / step * step; first_of(m) <= to; m += step)
      if (first_of(m) >= from)
        out.push_back({first_of(m), moment_text(first_of(m), Quantity::date).substr(0, step < 12 ? 7 : 4)});
    return out;
  }
  for (const double step : {1.0 / 1440, 5.0 / 1440, 15.0 / 1440, 1.0 / 24, 3.0 / 24, 6.0 / 24, 12.0 / 24, 1.0, 2.0, 7.0,
                            14.0, 28.0, 56.0}) {
    if (span / step > most) continue;
    for (double k = std::ceil(from / step); k * step <= to; ++k) {
      const std::string text = moment_text(k * step, step < 1 ? Quantity::time : Quantity::date);
      out.push_back({k * step, step < 1 && span < 1 ? text.substr(11, 5) : step < 1 ? text.substr(5, 11) : text});
    }
    return out;
  }
  return linear_ticks(from, to, most);
}

struct Gather {
  Extents out;
  static void each(const std::vector<double>& values, Extent& extent) {
    for (const double value : values) extent.add(value);
  }
  void operator()(const Points& m) { each(m.x, out.x), each(m.y, out.y); }
  void operator()(const Line& m) { each(m.x, out.x), each(m.y, out.y); }
  void operator()(const Area& m) { each(m.x, out.x), each(m.lower, out.y), each(m.upper, out.y); }
  void operator()(const Words& m) { each(m.x, out.x), each(m.y, out.y); }
  void operator()(const Rectangles& m) { corners(m); }
  void operator()(const Segments& m) { corners(m); }
  void corners(const auto& m) { each(m.x0, out.x), each(m.x1, out.x), each(m.y0, out.y), each(m.y1, out.y); }
};

}  // namespace

void Extent::add(double value) {
  if (!std::isfinite(value)) return;
  least = std::min(least, value), greatest = std::max(greatest, value);
  if (value > 0) least_positive = std::min(least_positive, value);
}

Extents extents_of(const Panel& panel) {
  Gather gather;
  for (const Mark& mark : panel.marks) std::visit(gather, mark);
  return gather.out;
}

Scale::Scale(const Axis& axis, Extent marks) : kind_(axis.kind), levels_(axis.levels) {
  constexpr double kRoom = 0.04;
  if (kind_ == ScaleKind::factor) {
    from_ = axis.from.value_or(-0.5);
    to_ = axis.to.value_or(static_cast<double>(std::max<std::size_t>(levels_.size(), 1)) - 0.5);
    return;
  }
  const bool log = kind_ == ScaleKind::log;
  for (const auto& end : {axis.from, axis.to})
    if (end) marks.add(*end);
  if (log) marks.least = marks.least_positive;
  if (!marks.any()) marks.least = log ? 1 : 0, marks.greatest = log ? 10 : 1;
  from_ = log ? std::log10(marks.least) : marks.least, to_ = log ? std::log10(marks.greatest) : marks.greatest;
  if (from_ == to_) {  // one value: room on either side of it
    const double half = log ? 0.5 : std::max(0.5 * std::abs(from_), from_ == 0 ? 1.0 : 0.0);
    from_ -= half, to_ += half;
  }
  const double room = kRoom * (to_ / 2 - from_ / 2) * 2;  // halves: the difference of huge numbers is a number
  const double low = from_, high = to_;
  from_ = axis.from && !(log && *axis.from <= 0) ? (log ? std::log10(*axis.from) : *axis.from) : low - room;
  to_ = axis.to && !(log && *axis.to <= 0) ? (log ? std::log10(*axis.to) : *axis.to) : high + room;
  if (!(from_ < to_)) to_ = from_ + std::max(1.0, std::abs(from_) * 1e-6);
}

double Scale::place(double value) const {
  if (kind_ == ScaleKind::log) value = value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
  return (value / 2 - from_ / 2) / (to_ / 2 - from_ / 2);
}

void Scale::widen(double factor) {
  const double middle = from_ / 2 + to_ / 2, half = (to_ / 2 - from_ / 2) * factor;
  from_ = middle - half, to_ = middle + half;
}

std::vector<Tick> Scale::ticks(int most) const {
  switch (kind_) {
    case ScaleKind::log: return log_ticks(from_, to_, most);
    case ScaleKind::time: return time_ticks(from_, to_, most);
    case ScaleKind::linear: return linear_ticks(from_, to_, most);
    case ScaleKind::factor: break;
  }
  std::vector<Tick> out;
  const std::size_t step = std::max<std::size_t>(1, (levels_.size() + static_cast<std::size_t>(std::max(1, most)) - 1) /
                                                        static_cast<std::size_t>(std::max(1, most)));
  for (std::size_t k = 0; k < levels_.size(); k += step) out.push_back({static_cast<double>(k), levels_[k]});
  return out;
}

}  // namespace lemma::plot
