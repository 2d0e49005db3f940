// lemma/data/csv/rows.cpp: what a reader gives of a file once it has learned its columns.
#include <algorithm>
#include <lemma/data/csv/reader.hpp>

namespace lemma::csv {
/// A piece without the lines that are no rows.
Text Reader::load(Index piece, Buffer& buffer) const {
  const auto k = at(piece);
  buffer.fill(*bytes_, pieces_.start[k], pieces_.start[k + 1], layout_.syntax.newline);
  Text text{buffer.begin(), buffer.end(), pieces_.start[k], pieces_.rows_of(piece)};
  if (pieces_.odd[k] == 0) return text;
  buffer.close(find_gaps(text, layout_, options_.ragged, exact_).gaps);
  text.end = buffer.end();
  text.closed = buffer.closed();
  return text;
}

void Reader::read_records(Index row, Records& records) const {
  const auto k = at(pieces_.piece_of(row));
  load(static_cast<Index>(k), records.buffer);
  records.first = pieces_.first_row[k];
  records.starts = record_starts(records.buffer.begin(), records.buffer.end(), layout_.syntax);
}

std::string Reader::header_text() const {
  if (!layout_.header) return {};
  std::string text(static_cast<std::size_t>(layout_.begin - layout_.header_begin), '\0');
  bytes_->read(layout_.header_begin, text.size(), text.data());
  return text;
}

Table Reader::read(const Table& schema, Index first, Index count) const {
  std::vector<Column> columns(schema.all().begin(), schema.all().end());
  std::vector<Sink> sinks(layout_.names.size());  // nobody asks for those that the schema leaves out
  std::size_t j = 0;
  for (Column& column : columns) {
    while (layout_.names[j] != column.name) ++j;
    Sink& sink = sinks[j];
    sink.strict = true;
    sink.levels = levels_[j].get();
    sink.levels_win = options_.levels.count(column.name) != 0;
    switch (column.type()) {
      case ColumnType::numeric: {
        auto& values = std::get<Numbers>(column.data).values;
        values.resize(at(count));
        sink.mode = Sink::Mode::number;
        sink.numbers = values.data();
        sink.form = forms_[j];
        break;
      }
      case ColumnType::categorical: {
        auto& codes = std::get<Categories>(column.data).codes;
        codes.resize(at(count));
        sink.mode = Sink::Mode::level;
        sink.codes = codes.data();
        break;
      }
      case ColumnType::text: {
        auto& texts = std::get<Texts>(column.data);
        texts.values.resize(at(count));
        texts.missing.resize(at(count));
        sink.mode = Sink::Mode::text;
        sink.texts = &texts;
      }
    }
  }
  Buffer buffer;
  bool stray = false;
  try {
    for (Index row = first; row < first + count;) {
      const Index piece = pieces_.piece_of(row);
      const auto k = at(piece);
      const Index skip = row - pieces_.first_row[k], take = std::min(pieces_.first_row[k + 1], first + count) - row;
      parse_records({layout_, missing_, exact_}, load(piece, buffer), {skip, take, row - first}, sinks, stray);
      row += take;
    }
  } catch (const Mistake& mistake) { throw error(mistake); }
  return Table(std::move(columns), source_);
}

}  // namespace lemma::csv
