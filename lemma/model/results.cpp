// lemma/model/results.cpp: the results of a model with the names of what they are about: columns, classes, training rows.
#include <algorithm>
#include <fmt/core.h>
#include <lemma/core/error.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/response_quantity.hpp>
#include <lemma/model/placed_rows.hpp>

namespace lemma {
namespace {

/// Entries that are numbers of rows the model was given, as the table numbers them.
Value renumbered(const Value& value, const RowNames& rows) {
  Value::Array out = value.as_array();
  for (double& each : out.data) each = static_cast<double>(rows.number(static_cast<Index>(each) - 1));
  return out;
}

/// What the i-th entry along an axis is called.
class AxisNames {
 public:
  AxisNames(const TrainedModel& trained, std::vector<std::string> features, std::vector<std::string> things = {},
            std::vector<Index> rows = {})
      : trained_(trained), features_(std::move(features)), things_(std::move(things)), rows_(std::move(rows)) {}
  std::string head(Axis axis) const {
    switch (axis) {
      case Axis::feature: return "feature";
      case Axis::label: return "class";
      case Axis::row:
        return !things_.empty() ? "thing" : trained_.row_names.column.empty() ? "row" : trained_.row_names.column;
      default: return "number";
    }
  }
  std::string of(Axis axis, Index i) const {
    const auto at = static_cast<std::size_t>(i);
    const auto& classes = trained_.design.classes();
    if (axis == Axis::feature && at < features_.size()) return features_[at];
    if (axis == Axis::label && at < classes.size()) return classes[at];
    if (axis == Axis::row)
      return at < things_.size() ? things_[at] : trained_.row_names.name(at < rows_.size() ? rows_[at] : i);
    return std::to_string(i + 1);
  }
  /// The j-th column of a matrix. One that runs along nothing with names is never a bare number, which a reader of the file would
  /// take for data: rows and columns of the data meet the coordinates of the model, which have names (PC1, D1), all else is
  /// counted (shepard_1).
  std::string column(const FieldInfo& field, Index j, Index count) const {
    if (field.along.across != Axis::number) return of(field.along.across, j);
    if (field.along.down == Axis::feature || field.along.down == Axis::row) {
      const auto called = trained_.model->output_names(features_);
      if (std::ssize(called) == count) return called[static_cast<std::size_t>(j)];
      if (field.name == kCoordinatesPart.name) return fmt::format("D{}", j + 1);
    }
    return fmt::format("{}_{}", field.name, j + 1);
  }

 private:
  const TrainedModel& trained_;
  std::vector<std::string> features_, things_;
  std::vector<Index> rows_;  // that entries run along; none: all
};

Column names_column(const AxisNames& names, Axis axis, Index count) {
  std::vector<std::string> out;
  for (Index i = 0; i < count; ++i) out.push_back(names.of(axis, i));
  return text(names.head(axis), std::move(out));
}

/// Entries that name rows: by the id beside them, where there is one.
Column ids_of(const RowNames& rows, const Vector& numbers) {
  std::vector<std::string> out;
  for (const double number : numbers) {
    const auto found =
        rows.numbers.empty()
            ? static_cast<Index>(number) - 1
            : static_cast<Index>(std::find(rows.numbers.begin(), rows.numbers.end(), static_cast<Index>(number)) -
                                 rows.numbers.begin());
    out.push_back(rows.name(found));
  }
  return text(rows.column, std::move(out));
}

Table table_of(const Value& value, const FieldInfo& field, const AxisNames& names, const RowNames& rows) {
  std::vector<Column> columns;
  if (value.is_number()) return Table({numeric(field.name, {value.as_double()})}, field.name);
  if (value.is_array() && value.as_array().shape.size() == 1) {
    const Vector entries = value.as_vector(field.name);
    columns.push_back(names_column(names, field.along.across, entries.size()));
    columns.push_back(numeric(field.name, {entries.begin(), entries.end()}));
    if (field.along.across == Axis::row_number && !rows.names.empty()) columns.push_back(ids_of(rows, entries));
    return Table(std::move(columns), field.name);
  }
  if (value.is_array() && value.as_array().shape.size() == 2) {
    const Matrix entries = value.as_matrix(field.name);
    columns.push_back(names_column(names, field.along.down, entries.rows()));
    for (Index j = 0; j < entries.cols(); ++j)
      columns.push_back(
          numeric(names.column(field, j, entries.cols()), {entries.col(j).begin(), entries.col(j).end()}));
    return Table(std::move(columns), field.name);
  }
  if (value.is_list()) return Table({text(field.name, value.as_strings(field.name))}, field.name);
  throw Error(fmt::format("{} is {}, not a table; --json shows it", field.name, value.kind()));
}

/// "1", "2", …: codes that stand for no class.
std::vector<std::string> counted_names(const Labels& codes) {
  std::vector<std::string> names;
  const int most = codes.empty() ? -1 : *std::max_element(codes.begin(), codes.end());
  for (int k = 1; k <= most + 1; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace

std::string RowNames::name(Index i) const {
  return names.empty() ? std::to_string(number(i)) : names.at(static_cast<std::size_t>(i));
}

Value RowNames::save() const {
  Value out = Value::object();
  out.set("column", column);
  out.set("names", names);
  out.set("numbers", Value::Array{{static_cast<Index>(numbers.size())}, {numbers.begin(), numbers.end()}});
  return out;
}

RowNames RowNames::load(const Value& value, Index rows) {
  RowNames out;
  out.column = value.at("column").as_string("column of the rows' names");
  out.names = value.at("names").as_strings("names of the rows");
  const Vector numbers = value.at("numbers").as_vector("numbers of the rows");
  for (const double number : numbers) {
    require(number >= 1 && number < 0x1p53 && number == static_cast<double>(static_cast<Index>(number)),
            "a training row has no usable number");
    out.numbers.push_back(static_cast<Index>(number));
  }
  for (const std::size_t size : {out.names.size(), out.numbers.size()})
    require(size == 0 || static_cast<Index>(size) == rows, "there is not one name or number for each training row");
  return out;
}

Names TrainedModel::names() const {
  Names out{design.features(), design.classes(), design.target(), {}};
  for (const ResponseColumn& each : design.responses()) out.responses.push_back(each.name);
  return out;
}

Value TrainedModel::results() const {
  Value out = model->results(names());
  if (row_names.numbers.empty()) return out;
  for (const FieldInfo& field : model->method().results())
    if (const Value* found = out.find(field.name); found && found->is_array() && field.along.across == Axis::row_number)
      out.set(field.name, renumbered(*found, row_names));
  return out;
}

std::vector<Index> placed_rows(const TrainedModel& trained, Index count) {
  const Value results = trained.model->results(trained.names());
  const Value* found = results.find("left_out");
  const Vector left_out = found && found->is_array() ? found->as_vector("left_out") : Vector();
  std::vector<Index> out;
  Index next = 0;
  for (Index i = 0; static_cast<Index>(out.size()) < count; ++i)
    if (next < left_out.size() && static_cast<Index>(left_out(next)) == i + 1) ++next;
    else out.push_back(i);
  return out;
}

Table TrainedModel::result_table(std::string_view name) const {
  const Value all = results();
  const auto rows_along = [&](const Value& value, const FieldInfo& field) {
    const bool down = field.along.down == Axis::row && value.is_array();
    return down ? placed_rows(*this, value.as_array().shape[0]) : std::vector<Index>();
  };
  std::vector<std::string> known;
  for (const FieldInfo& field : model->method().results()) {
    const Value* value = field.shown == Shown::result ? all.find(field.name) : nullptr;
    if (!value || value->is_null()) continue;
    known.push_back(field.name);
    if (field.name != name) continue;
    if (const Value* called = all.find(field.name.substr(0, field.name.size() - 1) + "_names");  // hyperparameter_names
        called && called->is_list() && value->is_array() &&
        value->as_array().shape == std::vector<Index>{static_cast<Index>(called->as_strings(field.name).size())}) {
      const Vector entries = value->as_vector(field.name);
      return Table(
          {text("name", called->as_strings(field.name)), numeric(field.name, {entries.begin(), entries.end()})},
          field.name);
    }
    const Value* features = all.find("features");  // of the last step of a pipeline
    const Value* things = all.find("things");      // that dissimilarities are about: they need not be the rows
    return table_of(*value, field,
                    {*this, features ? features->as_strings("features") : design.features(),
                     things ? things->as_strings("things") : std::vector<std::string>(), rows_along(*value, field)},
                    row_names);
  }
  throw Error(fmt::format("{} has no result '{}'{}; it has {}", model->method().name(), name, did_you_mean(name, known),
                          join_words(known, 40)));
}

namespace {

/// Codes of classes that are held as numbers; −1 where there is none.
std::vector<std::int32_t> codes_of(const auto& numbers, std::size_t classes) {
  std::vector<std::int32_t> out;
  for (const double code : numbers)
    out.push_back(code >= 0 && code < static_cast<double>(classes) ? static_cast<std::int32_t>(code) : -1);
  return out;
}

/// What is said of the response in its own units: the value, where it lies, functions drawn.
bool is_of_response(const PartInfo& part) {
  return part.name == kValuePart.name || part.name == kValuesPart.name || part.name == kIntervalPart.name ||
         part.name == kSamplesPart.name;
}

Column moments(std::string name, const auto& days, Quantity quantity) {
  Numbers out;
  out.quantity = quantity;
  for (const double each : days) out.values.push_back(rounded_moment(each, quantity));
  return {std::move(name), std::move(out)};
}

}  // namespace

std::vector<Column> TrainedModel::columns_of(const PredictedPart& part) const {
  const bool unnamed = part.info.columns == PartColumns::own && part.columns.empty();  // transformed columns
  const auto called = unnamed ? model->output_names(design.features()) : column_names(part, names());
  const auto quantities = is_of_response(part.info) ? response_quantities(design) : std::vector<Quantity>{};
  const auto quantity = [&](std::size_t k) {
    return quantities.empty() ? Quantity::number : quantities[quantities.size() == 1 ? 0 : k];
  };
  std::vector<Column> out;
  if (const auto* matrix = std::get_if<Matrix>(&part.data)) {
    const auto responses =
        part.info.columns == PartColumns::responses ? design.responses() : std::vector<ResponseColumn>{};
    for (Index j = 0; j < matrix->cols(); ++j)
      if (const auto k = static_cast<std::size_t>(j); k < responses.size() && !responses[k].classes.empty())
        out.push_back(
            {called[k], Categories{codes_of(matrix->col(j), responses[k].classes.size()), responses[k].classes}});
      else out.push_back(moments(called[k], matrix->col(j), quantity(k)));
  } else if (const auto* numbers = std::get_if<Vector>(&part.data)) {
    out.push_back(moments(called.front(), *numbers, quantity(0)));
  } else if (const auto* codes = std::get_if<Labels>(&part.data)) {
    out.push_back({called.front(), Categories{{codes->begin(), codes->end()},
                                              part.info.of_classes ? design.classes() : counted_names(*codes)}});
  } else {
    out.push_back(text(called.front(), std::get<Strings>(part.data)));
  }
  return out;
}

std::variant<Table, TrainedModel> TrainedModel::act(std::string_view action, const Value& params) const {
  auto made = model->act(action, params);
  if (auto* other = std::get_if<AnyModel>(&made)) {
    TrainedModel out = *this;
    out.model = std::move(*other);
    return out;
  }
  const auto& said = std::get<Prediction>(made);
  std::vector<Column> columns;
  const AxisNames axis(*this, design.features());
  if (!said.parts().empty()) columns.push_back(names_column(axis, Axis::row, said.parts().front().rows()));
  for (const PredictedPart& part : said.parts())
    for (Column& column : columns_of(part)) columns.push_back(std::move(column));
  return Table(std::move(columns), std::string(action));
}

Table TrainedModel::draw(Index count, std::uint64_t seed) const {
  const DrawnRows drawn = model->draw(count, seed);
  std::vector<Column> columns;
  if (!drawn.label.empty())
    columns.push_back({design.target(), Categories{{drawn.label.begin(), drawn.label.end()}, design.classes()}});
  for (Index j = 0; j < drawn.x.cols(); ++j)
    columns.push_back(
        numeric(design.features()[static_cast<std::size_t>(j)], {drawn.x.col(j).begin(), drawn.x.col(j).end()}));
  return Table(std::move(columns), model->method().name());
}

}  // namespace lemma
