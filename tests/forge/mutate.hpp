// tests/forge/mutate.hpp: documents that are nearly those of a model: numbers, lengths, names and fields changed, one at
// a time or so that they still fit together.
#pragma once
#include <algorithm>
#include <functional>
#include <lemma/core/value.hpp>
#include <limits>
#include <string>
#include <vector>

namespace lemma::forge {

/// A whole number from 0 to below n: of a random stream, or of the bytes of a fuzzer.
using Dice = std::function<std::size_t(std::size_t n)>;
using Path = std::vector<std::string>;
using Change = std::function<void(Value&)>;

inline const auto& one_of(const auto& items, const Dice& dice) { return items[dice(items.size())]; }

/// The document with `change` applied at the place.
inline void apply_at(Value& value, const Path& path, std::size_t depth, const Change& change) {
  if (depth == path.size()) return change(value);
  if (value.is_object()) {
    Value::Object object = value.as_object();
    for (auto& [key, item] : object)
      if (key == path[depth]) {
        apply_at(item, path, depth + 1, change);
        break;
      }
    value = Value(std::move(object));
  } else if (value.is_list()) {
    Value::List list = value.as_list();
    apply_at(list.at(std::stoul(path[depth])), path, depth + 1, change);
    value = Value(std::move(list));
  }
}

inline void collect_paths(const Value& value, Path& path, std::vector<Path>& out) {
  out.push_back(path);
  const auto below = [&](const std::string& key, const Value& item) {
    path.push_back(key);
    collect_paths(item, path, out);
    path.pop_back();
  };
  if (value.is_object())
    for (const auto& [key, item] : value.as_object()) below(key, item);
  if (value.is_list())
    for (std::size_t i = 0; i < value.as_list().size(); ++i) below(std::to_string(i), value.as_list()[i]);
}
inline std::vector<Path> paths_of(const Value& value) {
  std::vector<Path> out;
  Path path;
  collect_paths(value, path, out);
  return out;
}
inline const Value* at(const Value& value, const Path& path) {
  const Value* here = &value;
  for (const auto& key : path) {
    if (here->is_list()) here = &here->as_list()[std::stoul(key)];
    else here = here->find(key);
    if (!here) return nullptr;
  }
  return here;
}

inline double special_number(double now, const Dice& dice) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> numbers{0,
                                    -0.0,
                                    1,
                                    -1,
                                    2,
                                    3,
                                    now + 1,
                                    now - 1,
                                    2 * now,
                                    -now,
                                    0.5,
                                    1e-9,
                                    1e6,
                                    1e18,
                                    1e300,
                                    -1e300,
                                    1e-300,
                                    65536,
                                    2147483648.0,
                                    Limits::infinity(),
                                    -Limits::infinity(),
                                    Limits::quiet_NaN(),
                                    Limits::denorm_min()};
  return one_of(numbers, dice);
}
inline std::int64_t special_integer(std::int64_t now, const Dice& dice) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto near = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) + (dice(2) ? 1U : ~std::uint64_t{0}));
  const std::vector<std::int64_t> numbers{
      0,          1,    -1,   2,           3,        7,    20,           100,           1000000,
      2147483647, near, near, 2147483648L, 1L << 53, near, -2147483648L, Limits::max(), Limits::min()};
  return one_of(numbers, dice);
}

/// One row or column of an array more (the last again) or fewer.
inline Value::Array resized(const Value::Array& array, std::size_t axis, bool more) {
  const Index rows = array.shape[0], columns = array.shape.size() > 1 ? array.shape[1] : 1;
  const Index by = more ? 1 : -1;
  const Index to_rows = rows + (axis == 0 ? by : 0), to_columns = columns + (axis == 1 ? by : 0);
  if (array.shape.size() > 2 || to_rows < 0 || to_columns < 0 || rows == 0 || columns == 0) return array;
  Value::Array out{array.shape, {}};
  out.shape[axis] += by;
  for (Index i = 0; i < to_rows; ++i)
    for (Index j = 0; j < to_columns; ++j)
      out.data.push_back(
          array.data[static_cast<std::size_t>(std::min(i, rows - 1) * columns + std::min(j, columns - 1))]);
  return out;
}

inline void change_array(Value& value, const Dice& dice) {
  Value::Array array = value.as_array();
  const auto count = array.data.size();
  switch (dice(9)) {
    case 0:
    case 1: array = resized(array, dice(array.shape.size()), dice(2)); break;
    case 2:
    case 3:
      if (count > 0) {
        double& number = array.data[dice(count)];
        number = special_number(number, dice);
      }
      break;
    case 4: {
      const double number = special_number(1, dice);
      std::fill(array.data.begin(), array.data.end(), number);
      break;
    }
    case 5: std::reverse(array.shape.begin(), array.shape.end()); break;
    case 6:
      array.shape = {static_cast<Index>(count)};
      if (dice(2)) array.shape.insert(array.shape.begin(), 1);
      break;
    case 7:
      if (count > 0) std::swap(array.data[dice(count)], array.data[dice(count)]);
      break;
    default: array = {{0}, {}};
  }
  value = array;
}

inline void change_text(Value& value, const std::vector<std::string>& texts, const Dice& dice) {
  std::string text = value.as_string();
  switch (dice(5)) {
    case 0: text = ""; break;
    case 1:
      if (!text.empty()) text[dice(text.size())] = static_cast<char>(' ' + static_cast<int>(dice(95)));
      break;
    case 2: text.append(dice(2) ? 3000 : 3, 'x'); break;
    default: text = one_of(texts, dice);
  }
  value = text;
}

inline void change_list(Value& value, const Dice& dice) {
  Value::List list = value.as_list();
  if (list.empty()) list.push_back(dice(2) ? Value("x1") : Value(1));
  else switch (dice(5)) {
      case 0: list.pop_back(); break;
      case 1: list.erase(list.begin() + static_cast<std::ptrdiff_t>(dice(list.size()))); break;
      case 2: list.push_back(list[dice(list.size())]); break;
      case 3: std::swap(list[dice(list.size())], list[dice(list.size())]); break;
      default: list.clear();
    }
  value = Value(std::move(list));
}

inline void change_object(Value& value, const Dice& dice) {
  Value::Object object = value.as_object();
  if (object.empty()) object.emplace_back("x", Value(1));
  const auto i = dice(object.size()), j = dice(object.size());
  switch (dice(4)) {
    case 0: object.erase(object.begin() + static_cast<std::ptrdiff_t>(i)); break;
    case 1: object[i].first += "_"; break;
    case 2: std::swap(object[i].second, object[j].second); break;
    default: object[i].second = object[j].second;
  }
  value = Value(std::move(object));
}

/// Something else of its own kind; now and then of another.
inline void change_value(Value& value, const Value& document, const std::vector<Path>& paths, const Dice& dice) {
  if (dice(12) == 0) {
    const std::vector<Value> others{Value(),
                                    true,
                                    3,
                                    -1,
                                    0.5,
                                    "x1",
                                    Value::List{},
                                    Value::object(),
                                    Value(std::vector<double>{}),
                                    *at(document, one_of(paths, dice))};
    value = Value(one_of(others, dice));
  } else if (value.is_bool()) {
    value = !value.as_bool();
  } else if (value.is_integer()) {
    value = special_integer(value.as_integer(), dice);
  } else if (value.is_number()) {
    value = special_number(value.as_double(), dice);
  } else if (value.is_string()) {
    std::vector<std::string> texts{"none", "numeric", "classes", "counts", "full", "rbf", "precomputed", "1"};
    for (const auto& path : paths)
      if (const Value* found = at(document, path); found->is_string()) texts.push_back(found->as_string());
    change_text(value, texts, dice);
  } else if (value.is_array()) {
    change_array(value, dice);
  } else if (value.is_list()) {
    change_list(value, dice);
  } else if (value.is_object()) {
    change_object(value, dice);
  } else {
    value = dice(2) ? Value(1) : Value("x1");
  }
}

/// A place anywhere: in each part of a file as often as in its others, however long they are.
inline void change_somewhere(Value& document, const Dice& dice) {
  static const std::vector<std::string> parts{"design", "design", "design",      "state",    "state",
                                              "state",  "state",  "params",      "params",   "data",
                                              "method", "notes",  "certificate", "warnings", ""};
  const std::string part = one_of(parts, dice);
  const auto all = paths_of(document);
  std::vector<Path> paths;
  for (const auto& path : all)
    if (part.empty() || (!path.empty() && path[0] == part)) paths.push_back(path);
  if (paths.empty()) return;
  const Value before = document;
  apply_at(document, one_of(paths, dice), 0, [&](Value& value) { change_value(value, before, all, dice); });
}

/// All arrays of the state whose length in some direction is the same grow or shrink together, but for a few.
inline void resize_together(Value& document, const Dice& dice) {
  const Value before = document;
  std::vector<Path> arrays;
  for (const auto& path : paths_of(before))
    if (!path.empty() && path[0] == "state" && at(before, path)->is_array()) arrays.push_back(path);
  if (arrays.empty()) return;
  const auto& model = at(before, one_of(arrays, dice))->as_array().shape;
  const Index length = one_of(model, dice);
  const bool more = dice(2);
  for (const auto& path : arrays)
    if (dice(12) > 0)
      apply_at(document, path, 0, [&](Value& value) {
        Value::Array array = value.as_array();
        for (std::size_t axis = 0; axis < array.shape.size(); ++axis)
          if (array.shape[axis] == length) array = resized(array, axis, more);
        value = array;
      });
}

/// Another number of classes, in a design that is right in itself.
inline void change_classes(Value& document, const Dice& dice) {
  const bool more = dice(2);
  const Value* levels = at(document, {"design", "response", "parts", "0", "levels"});
  const Value* codes = at(document, {"design", "response", "combinations"});
  if (!levels || !levels->is_list() || levels->as_list().empty() || !codes || !codes->is_array()) return;
  const std::size_t parts = document.at("design").at("response").at("parts").as_list().size();
  Value::List names = levels->as_list();
  if (parts == 1 && more) names.emplace_back("another");
  else if (parts == 1) names.pop_back();
  std::vector<double> numbers = codes->as_array().data;
  if (!more) numbers.resize(numbers.size() - std::min(parts, numbers.size()));
  else if (parts == 1) numbers.push_back(static_cast<double>(numbers.size()));
  apply_at(document, {"design", "response", "parts", "0", "levels"}, 0, [&](Value& value) { value = names; });
  apply_at(document, {"design", "response", "combinations"}, 0, [&](Value& value) { value = Value(numbers); });
}

/// Another kind of response, in a design that is right in itself.
inline void change_response(Value& document, const Dice& dice) {
  const Value* design = document.find("design");
  if (!design || !design->is_object()) return;
  Value response = Value::object();
  const std::size_t kind = dice(4);
  const std::vector<std::string> kinds{"none", "numeric", "counts", "classes"};
  response.set("kind", kinds[kind]);
  response.set("target", kind == 0 ? "" : "y");
  response.set("numbers", std::vector<std::string>{"y", "w"});
  if (kind == 1) response.set("numbers", std::vector<std::string>{"y"});
  if (kind == 0 || kind == 3) response.set("numbers", Value::List{});
  response.set("parts", Value::List{});
  response.set("combinations", Value(std::vector<double>{}));
  if (kind == 3) {
    Value part = Value::object();
    part.set("kind", "categorical");
    part.set("label", "class");
    part.set("column", "class");
    const std::vector<std::string> levels{"blue", "green", "red", "yellow"};
    const std::size_t count = 1 + dice(4);
    part.set("levels", std::vector<std::string>(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(count)));
    std::vector<double> codes;
    for (std::size_t k = 0; k < count; ++k) codes.push_back(static_cast<double>(k));
    response.set("parts", Value::List{part});
    response.set("combinations", Value(codes));
  }
  apply_at(document, {"design", "response"}, 0, [&](Value& value) { value = response; });
}

/// A part of another model's file.
inline void splice(Value& document, const Value& other, const Dice& dice) {
  static const std::vector<std::string> parts{"design", "state", "params", "data", "method"};
  const std::string part = one_of(parts, dice);
  const Value* theirs = other.find(part);
  const Value* ours = document.find(part);
  if (!theirs || !ours) return;
  if (dice(2) && theirs->is_object() && ours->is_object() && !theirs->as_object().empty()) {
    const auto& [key, item] = one_of(theirs->as_object(), dice);
    apply_at(document, {part}, 0, [&, &k = key, &v = item](Value& value) { value.set(k, v); });
  } else {
    document.set(part, *theirs);
  }
}

/// Up to four changes of a document. `other` is one of another model.
inline Value mutated(Value document, const Value& other, const Dice& dice) {
  for (std::size_t times = 1 + dice(4) / 2 + dice(2); times > 0; --times) switch (dice(10)) {
      case 0: resize_together(document, dice); break;
      case 1: change_classes(document, dice); break;
      case 2: change_response(document, dice); break;
      case 3: splice(document, other, dice); break;
      default: change_somewhere(document, dice);
    }
  return document;
}

}  // namespace lemma::forge
