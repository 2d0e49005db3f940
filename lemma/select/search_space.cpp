// lemma/select/search_space.cpp
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/select/search_space.hpp>
#include <numeric>

namespace lemma {
namespace {

using Kind = ParamInfo::Kind;
constexpr std::size_t kMostGridPoints = 100'000;

bool is_number(const ParamInfo& info) {
  return info.kind == Kind::number || info.kind == Kind::whole || info.kind == Kind::numbers;
}

const ParamInfo& find_param(const std::vector<ParamInfo>& infos, const std::string& name, const std::string& method) {
  std::vector<const ParamInfo*> ends;
  std::vector<std::string> names;
  for (const auto& info : infos) {
    if (info.name == name) return info;
    if (info.name.ends_with("." + name)) ends.push_back(&info);
    names.push_back(info.name);
  }
  if (ends.size() == 1) return *ends.front();
  const bool alike = std::all_of(ends.begin(), ends.end(), [&](auto* each) { return each->name == ends[0]->name; });
  if (ends.size() > 1 && alike) return *ends.front();  // of one kernel or another
  if (ends.size() > 1)
    throw Error(fmt::format("{} has several '{}': write {} or {}", method, name, ends[0]->name, ends[1]->name));
  throw Error(fmt::format("{} has no parameter '{}'{}", method, name, did_you_mean(name, names)));
}

double number_of(const SearchAxis& axis, const std::string& text) {
  try {
    std::size_t used = 0;
    const double out = std::stod(text, &used);
    if (used == text.size() && std::isfinite(out)) return out;
  } catch (const std::exception&) {}
  throw Error(fmt::format("the range of {} has the end '{}', must be a number", axis.path, text));
}

/// The range that a parameter's description gives: a thousandth to a thousandfold of its default on a logarithmic scale, its
/// ends where it has both.
void take_described_range(const ParamInfo& info, SearchAxis& axis) {
  const double usual = info.initial.is_number() ? info.initial.as_double()
                       : info.initial.is_array() && info.initial.as_array().data.size() == 1
                           ? info.initial.as_array().data[0]
                           : std::nan("");
  const bool ends = info.range.low > -1e300 && info.range.high < 1e300;
  axis.step = info.step;
  if (axis.step == Step::logarithmic) {
    const double middle = usual > 0 ? usual : 1;
    axis.low = std::max(middle / 1000, info.range.low > 0 ? info.range.low : 0);
    axis.high = std::min(middle * 1000, info.range.high);
  } else if (ends) {
    const double margin = 0.01 * (info.range.high - info.range.low);
    axis.low = info.range.low + (info.range.low_open ? margin : 0);
    axis.high = info.range.high - (info.range.high_open ? margin : 0);
  } else if (usual > 0) {
    axis.low = std::max(info.range.low, axis.whole ? 1.0 : usual / 10);
    axis.high = std::min(info.range.high, usual * 10);
  } else {
    throw Error(fmt::format("nothing is known of the range of {}: write {}=LOW:HIGH", axis.path, axis.path));
  }
}

void take_range(const std::vector<std::string>& parts, SearchAxis& axis) {
  axis.low = number_of(axis, parts[0]);
  axis.high = number_of(axis, parts[1]);
  if (parts.size() == 3) {
    const double points = number_of(axis, parts[2]);
    if (!(points >= 2 && points <= 1e6 && points == std::floor(points)))
      throw Error(fmt::format("{} points of {}: there must be 2 or more", parts[2], axis.path));
    axis.points = static_cast<int>(points);
  }
}

std::vector<std::string> split_at(const std::string& text, char mark) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(mark, from), text.size());
    out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

SearchAxis axis_from(const std::string& text, const std::vector<ParamInfo>& infos, const std::string& method) {
  const auto sign = text.find('=');
  const ParamInfo& info = find_param(infos, text.substr(0, sign), method);
  SearchAxis axis;
  axis.path = info.name;
  axis.step = info.step;
  axis.whole = info.kind == Kind::whole;
  if (sign == std::string::npos) {
    if (is_number(info)) {
      take_described_range(info, axis);
    } else if (info.kind == Kind::truth) {
      axis.values = {Value(false), Value(true)};
      axis.texts = {"false", "true"};
    } else if (!info.choices.empty()) {
      axis.texts = info.choices;
      for (const auto& choice : info.choices) axis.values.emplace_back(choice);
    } else {
      throw Error(fmt::format("nothing is known of the values of {}: write {}=ONE,TWO", axis.path, axis.path));
    }
  } else if (const auto ends = split_at(text.substr(sign + 1), ':');
             is_number(info) && (ends.size() == 2 || ends.size() == 3)) {
    take_range(ends, axis);
  } else {
    for (const auto& one : split_outside_brackets(text.substr(sign + 1))) {
      axis.values.push_back(parse_param(info, one, method));
      axis.texts.push_back(one);
    }
  }
  if (axis.is_range()) {
    if (!(axis.low < axis.high))
      throw Error(fmt::format("the range of {} is {} to {}: it must rise", axis.path, axis.low, axis.high));
    if (axis.step == Step::logarithmic && !(axis.low > 0))
      throw Error(fmt::format("the range of {} begins at {}; on its logarithmic scale it must begin above 0", axis.path,
                              axis.low));
  }
  return axis;
}

}  // namespace

std::vector<std::string> split_outside_brackets(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) out.emplace_back();
    else out.back() += c;
  }
  for (auto& each : out) {
    while (each.starts_with(' ')) each.erase(0, 1);
    while (each.ends_with(' ')) each.pop_back();
  }
  return out;
}

Value SearchAxis::at(double place) const {
  if (!is_range()) {
    const auto count = static_cast<double>(values.size());
    return values[static_cast<std::size_t>(std::clamp(std::floor(place * count), 0.0, count - 1))];
  }
  double value = step == Step::logarithmic ? std::exp(std::log(low) + place * (std::log(high) - std::log(low)))
                                           : low + place * (high - low);
  value = std::stod(fmt::format("{:.12g}", value));  // 1, not what rounding makes of exp(log 0.01 + 0.5 log 10000)
  if (place == 0) value = low;
  if (place == 1) value = high;
  if (whole) return static_cast<std::int64_t>(std::llround(value));
  return value;
}

SearchSpace::SearchSpace(const AnySpec& spec, const std::vector<std::string>& texts) : spec_(spec) {
  require(!texts.empty(), "there is nothing to choose: name a parameter, such as --grid 'lambda=0.1,1,10'");
  const auto infos = params_of(spec.method(), spec.params());
  for (const auto& text : texts) {
    SearchAxis axis = axis_from(text, infos, spec.method().name());
    for (const auto& other : axes_)
      if (other.path == axis.path) throw Error(fmt::format("{} is given twice", axis.path));
    axes_.push_back(std::move(axis));
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {  // what is no value of the parameter is told before any work
    const auto check = [&](double at) {
      Place place(axes_.size(), 0.0);
      place[i] = at;
      this->spec(place).completed();
    };
    const auto count = static_cast<double>(axes_[i].values.size());
    for (double k = 0; k < count; ++k) check((k + 0.5) / count);
    if (axes_[i].is_range()) {
      check(0);
      check(1);
    }
  }
}

std::vector<Place> SearchSpace::grid() const {
  std::vector<Place> out{{}};
  for (const auto& axis : axes_) {
    const int points = axis.is_range() ? (axis.points > 0 ? axis.points : 5) : static_cast<int>(axis.values.size());
    if (out.size() * static_cast<std::size_t>(points) > kMostGridPoints)
      throw Error(fmt::format("the grid has more than {} points; search at random", kMostGridPoints));
    std::vector<Place> longer;
    for (const auto& place : out)
      for (int i = 0; i < points; ++i) {
        longer.push_back(place);
        longer.back().push_back(axis.is_range() ? static_cast<double>(i) / (points - 1)
                                                : (static_cast<double>(i) + 0.5) / points);
      }
    out = std::move(longer);
  }
  return out;
}

Place SearchSpace::draw(RandomStream& stream) const {
  Place out;
  for (std::size_t i = 0; i < axes_.size(); ++i) out.push_back(stream.uniform());
  return out;
}

Value SearchSpace::params(const Place& place) const {
  Value out = Value::object();
  for (std::size_t i = 0; i < axes_.size(); ++i) out.set(axes_[i].path, axes_[i].at(place[i]));
  return out;
}

namespace {
auto depth(const std::string& path) { return std::count(path.begin(), path.end(), '.'); }
}  // namespace

AnySpec SearchSpace::spec(const Place& place) const {
  Value params = spec_.params();
  std::vector<std::size_t> order(axes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});  // a kernel before its gamma
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return depth(axes_[a].path) < depth(axes_[b].path); });
  for (const auto i : order) {
    Value value = axes_[i].at(place[i]);
    if (value.is_string()) set_path(params, axes_[i].path, Value());  // the parts of another alternative go
    set_path(params, axes_[i].path, std::move(value));
  }
  return {spec_.shared(), std::move(params)};
}

std::string SearchSpace::text(const Place& place) const {
  std::string out;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Value value = axes_[i].at(place[i]);
    const auto& values = axes_[i].values;
    const auto found = std::find(values.begin(), values.end(), value) - values.begin();
    out += fmt::format("{}{}={}", i > 0 ? ", " : "", axes_[i].path,
                       axes_[i].is_range() ? format_significant(value.as_double(), 4)
                                           : axes_[i].texts[static_cast<std::size_t>(found)]);
  }
  return out;
}

Vector SearchSpace::coordinates(const Place& place) const {
  std::vector<double> out;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].is_range()) {
      out.push_back(place[i]);
      continue;
    }
    const Value value = axes_[i].at(place[i]);
    for (const auto& each : axes_[i].values) out.push_back(each == value ? 1 : 0);
  }
  return Eigen::Map<const Vector>(out.data(), static_cast<Index>(out.size()));
}

}  // namespace lemma
