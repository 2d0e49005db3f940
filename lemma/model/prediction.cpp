// lemma/model/prediction.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/model/prediction.hpp>

namespace lemma {
namespace {

template <class T>
const T& part_of(const Prediction& prediction, std::string_view name) {
  static const T none{};
  const PredictedPart* part = prediction.find(name);
  if (!part) return none;
  const T* data = std::get_if<T>(&part->data);
  require(data != nullptr, fmt::format("the part '{}' of a prediction is something else than was asked for", name));
  return *data;
}

template <class T>
void append(Vector& into, const std::vector<const T*>& from) {
  Index rows = 0, at = 0;
  for (const T* each : from) rows += each->size();
  into.resize(rows);
  for (const T* each : from) {
    into.segment(at, each->size()) = *each;
    at += each->size();
  }
}
void append(Matrix& into, const std::vector<const Matrix*>& from) {
  Index rows = 0, at = 0;
  for (const Matrix* each : from) rows += each->rows();
  into.resize(rows, from.front()->cols());
  for (const Matrix* each : from) {
    into.middleRows(at, each->rows()) = *each;
    at += each->rows();
  }
}
template <class T>
void append(std::vector<T>& into, const std::vector<const std::vector<T>*>& from) {
  for (const auto* each : from) into.insert(into.end(), each->begin(), each->end());
}

/// A name that a model gives to a column of its own may speak of classes by their codes, "{1}_against_{0}", since a model
/// does not know what they are called.
std::string with_classes(std::string_view name, const std::vector<std::string>& classes) {
  std::string out;
  for (std::size_t k = 0; k < name.size(); ++k) {
    std::size_t end = k + 1, code = 0;
    while (name[k] == '{' && end < name.size() && name[end] >= '0' && name[end] <= '9' && end < k + 6)
      code = 10 * code + static_cast<std::size_t>(name[end++] - '0');
    if (end == k + 1 || end == name.size() || name[end] != '}') {
      out += name[k];
      continue;
    }
    out += code < classes.size() ? classes[code] : std::to_string(code + 1);
    k = end;
  }
  return out;
}

std::string column_name(const PredictedPart& part, Index j, const Names& names) {
  const std::string prefix(part.info.prefix.empty() ? part.info.name : part.info.prefix);
  const auto at = static_cast<std::size_t>(j);
  const auto named = [&](const std::vector<std::string>& all) {
    return prefix + "_" + (at < all.size() ? all[at] : std::to_string(j + 1));
  };
  switch (part.info.columns) {
    case PartColumns::itself: return prefix;
    case PartColumns::classes: return part.width() == 1 ? prefix : named(names.classes);
    case PartColumns::features: {  // of each class in turn, where there are several times as many columns
      const std::size_t width = names.features.size();
      if (width == 0 || static_cast<std::size_t>(part.width()) <= width) return named(names.features);
      if (at / width >= names.classes.size()) return named({});
      return fmt::format("{}_{}_{}", prefix, names.features[at % width], names.classes[at / width]);
    }
    case PartColumns::numbered: return named({});
    case PartColumns::responses: return named(names.responses);
    case PartColumns::own: return at < part.columns.size() ? with_classes(part.columns[at], names.classes) : named({});
  }
  return prefix;
}

}  // namespace

Index PredictedPart::rows() const {
  return std::visit(
      [](const auto& each) {
        if constexpr (requires { each.rows(); }) return static_cast<Index>(each.rows());
        else return static_cast<Index>(each.size());
      },
      data);
}

Index PredictedPart::width() const {
  const auto* matrix = std::get_if<Matrix>(&data);
  return matrix ? matrix->cols() : 1;
}

std::vector<std::string> column_names(const PredictedPart& part, const Names& names) {
  std::vector<std::string> out;
  // An interval of two classes is that of the second one's probability, p_Yes: lower_Yes and upper_Yes.
  const bool of_class = part.info.name == kIntervalPart.name && names.classes.size() == 2;
  for (Index j = 0; j < part.width(); ++j)
    out.push_back(column_name(part, j, names) + (of_class ? "_" + names.classes[1] : ""));
  return out;
}

bool PredictOptions::asks(const PartInfo& part) const {
  if (what.empty()) return part.given == Given::by_default;
  return std::any_of(what.begin(), what.end(),
                     [&](const std::string& each) { return each == part.name || each == "all"; });
}

const PredictedPart* Prediction::find(std::string_view name) const {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [&](const PredictedPart& p) { return p.info.name == name; });
  return found == parts_.end() ? nullptr : &*found;
}

const Vector& Prediction::numbers(std::string_view name) const { return part_of<Vector>(*this, name); }
const Matrix& Prediction::matrix(std::string_view name) const { return part_of<Matrix>(*this, name); }
const Labels& Prediction::codes(std::string_view name) const { return part_of<Labels>(*this, name); }
const Strings& Prediction::texts(std::string_view name) const { return part_of<Strings>(*this, name); }
const Labels& Prediction::label() const { return codes(find(kClassPart.name) ? kClassPart.name : kClusterPart.name); }

Prediction stack(const std::vector<Prediction>& parts) {
  if (parts.empty()) return {};
  Prediction out = parts.front();
  for (std::size_t p = 0; p < out.parts().size(); ++p)
    std::visit(
        [&]<class T>(T& into) {
          std::vector<const T*> from;
          for (const Prediction& each : parts) from.push_back(&std::get<T>(each.parts()[p].data));
          T all;
          append(all, from);
          into = std::move(all);
        },
        out.parts()[p].data);
  return out;
}

Value to_value(const Prediction& prediction) {
  Value out = Value::object();
  for (const PredictedPart& part : prediction.parts())
    std::visit([&](const auto& data) { out.set(part.info.name, data); }, part.data);
  return out;
}

}  // namespace lemma
