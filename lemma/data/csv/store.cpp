// lemma/data/csv/store.cpp
#include <lemma/data/csv/store.hpp>
#include <limits>

namespace lemma::csv {

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

bool Store::is_missing(Sink& sink, const Field& field) const {
  if (field.quoted) return false;
  const int word = missing_.which(field.raw());
  if (word < 0) return false;
  ++sink.spelled[static_cast<std::size_t>(word)];
  sink.missing = true;
  return true;
}

Stored Store::number(Sink& sink, const Field& field, Index row, std::uint64_t offset) {
  double& number = sink.numbers[row * sink.stride];
  number = std::numeric_limits<double>::quiet_NaN();
  const auto written = field.text(scratch_);
  double value = 0;
  Kind kind = kind_of(written, missing_, decimal_, value);
  if (!sink.form.plain() && kind != Kind::missing)
    kind = read_formed(written, sink.form, decimal_, value) ? Kind::formed : Kind::label;
  switch (kind) {
    case Kind::missing: sink.missing = true; break;
    case Kind::formed: sink.formed = true; [[fallthrough]];
    case Kind::number: number = value; break;
    case Kind::infinite:
      if (sink.infinite_at != kNowhere && sink.infinite_at < offset) break;
      sink.infinite_at = offset;
      sink.infinite = shortened(written);
      break;
    case Kind::label:
      if (sink.strict) return Stored::bad;
      sink.failed = true;
      sink.mode = Sink::Mode::skip;
  }
  return Stored::good;
}

Stored Store::label(Sink& sink, const Field& field, Index row) {
  sink.codes[row] = is_missing(sink, field) ? -1 : sink.labels->code(field.text(scratch_));
  return Stored::good;
}

Stored Store::level(Sink& sink, const Field& field, Index row) {
  const auto written = field.text(scratch_);
  std::int32_t code = sink.levels->find(written);
  if ((code < 0 || !sink.levels_win || written.empty()) && is_missing(sink, field)) code = -1;
  else if (code < 0) return Stored::bad;
  sink.codes[row] = code;
  return Stored::good;
}

Stored Store::text(Sink& sink, const Field& field, Index row) {
  const auto i = static_cast<std::size_t>(row);
  sink.texts->missing[i] = is_missing(sink, field);
  if (!sink.texts->missing[i]) sink.texts->values[i] = field.text(scratch_);
  return Stored::good;
}

Stored Store::empty(Sink& sink, const Field& field) {
  if (!field.quoted && field.begin == field.end) return Stored::good;
  sink.failed = true;
  sink.mode = Sink::Mode::skip;
  return Stored::good;
}

Stored Store::any(Sink& sink, const Field& field, Index row, std::uint64_t offset) {
  switch (sink.mode) {
    case Sink::Mode::number: return number(sink, field, row, offset);
    case Sink::Mode::label: return label(sink, field, row);
    case Sink::Mode::level: return level(sink, field, row);
    case Sink::Mode::text: return text(sink, field, row);
    case Sink::Mode::empty: return empty(sink, field);
    case Sink::Mode::skip: break;
  }
  return Stored::good;
}

}  // namespace lemma::csv
