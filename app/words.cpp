// app/words.cpp
#include "words.hpp"

#include "elsewhere.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/data/read.hpp>

namespace lemma::app {
namespace {

/// A file that holds a matrix, for parameters that take one: --start centers.csv.
Value matrix_file(const std::string& path) {
  const Table table = read_table(path, {});
  Matrix m(table.rows(), table.columns());
  for (Index j = 0; j < table.columns(); ++j) {
    if (table.column(j).type() != ColumnType::numeric)
      throw Error(fmt::format("{}: column '{}' is not numeric", path, table.column(j).name));
    m.col(j) = Eigen::Map<const Vector>(table.column(j).numbers().values.data(), table.rows());
  }
  return m;
}

bool names_a_file(const ParamInfo& info, const Value& value) {
  if (!value.is_string()) return false;
  if (info.kind == ParamInfo::Kind::matrix) return true;
  return info.kind == ParamInfo::Kind::name_or_matrix &&
         std::find(info.choices.begin(), info.choices.end(), value.as_string()) == info.choices.end();
}

}  // namespace

bool is_flag(const std::string& word) { return word.starts_with("--"); }

/// A parameter that is `none` until it is asked for may be asked for by its flag alone: the first of its other choices.
std::string usual_choice(const ParamInfo& info) {
  if (info.kind == ParamInfo::Kind::truth) return "true";
  const bool off = info.kind == ParamInfo::Kind::name && info.initial.is_string() && info.initial.as_string() == "none";
  return off && info.choices.size() > 1 ? info.choices[info.choices[0] == "none" ? 1 : 0] : "";
}

/// Whether the word at i is the value of the parameter before it; a truth value may be left out.
bool is_value(const ParamInfo& info, const std::vector<std::string>& words, std::size_t i) {
  if (i >= words.size()) return false;
  return info.kind == ParamInfo::Kind::truth ? parse_truth(words[i]).has_value() : !is_flag(words[i]);
}

Value parse_words(const Taking& taking, const std::vector<std::string>& words, Value params,
                  std::vector<std::string>& files) {
  const auto& [who, help, infos, flags] = taking;
  std::vector<std::string> known = flags;
  for (const auto& info : infos) known.push_back("--" + info.name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    const auto info =
        std::find_if(infos.begin(), infos.end(), [&](const ParamInfo& each) { return "--" + each.name == flag; });
    if (info == infos.end()) {
      if (!is_flag(flag))
        throw Error(fmt::format("'{}' is one argument too many; a formula with blanks needs quotes", words[i]));
      throw Error(fmt::format("{} takes no {}{}; '{}' lists what it takes", who, flag, flag_here(flag, known), help));
    }
    std::string text;
    if (equals != std::string::npos) text = words[i].substr(equals + 1);
    else if (is_value(*info, words, i + 1)) text = words[++i];
    else text = usual_choice(*info);
    if (text.empty() && equals == std::string::npos)
      throw Error(fmt::format("{} needs a value: {}", flag, info->allowed));
    Value value = parse_param(*info, text, who);
    if (!names_a_file(*info, value)) {
      set_path(params, info->name, value);
      continue;
    }
    files.push_back(text);
    set_path(params, info->name, matrix_file(text));
  }
  return params;
}

}  // namespace lemma::app
