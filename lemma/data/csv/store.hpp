// lemma/data/csv/store.hpp: one field to its place in its column.
#pragma once
#include <lemma/data/csv/parse.hpp>
#include <string>

namespace lemma::csv {

/// What became of a field. `bad`: a label where numbers, or a value where other levels were asked for.
enum class Stored { good, bad };

/// Stores fields; what they are is decided here and nowhere else.
class Store {
 public:
  Store(const MissingWords& missing, char decimal) : missing_(missing), decimal_(decimal) {}

  /// `offset` is the place of the field in the file, should it be infinite.
  Stored number(Sink& sink, const Field& field, Index row, std::uint64_t offset);
  Stored label(Sink& sink, const Field& field, Index row);
  Stored level(Sink& sink, const Field& field, Index row);
  Stored text(Sink& sink, const Field& field, Index row);
  Stored empty(Sink& sink, const Field& field);
  Stored any(Sink& sink, const Field& field, Index row, std::uint64_t offset);

 private:
  /// What stands in quotes is meant as written: "NA" is a label, and "" an empty one.
  bool is_missing(Sink& sink, const Field& field) const;

  const MissingWords& missing_;
  char decimal_;
  std::string scratch_;
};

/// A text that can be shown in a message.
std::string shortened(std::string_view text);

}  // namespace lemma::csv
