// lemma/data/csv/gaps.cpp
#include <algorithm>
#include <cstring>
#include <lemma/data/csv/gaps.hpp>

namespace lemma::csv {
namespace {

class Finder {
 public:
  Finder(const Text& text, const Layout& layout, Ragged ragged, bool exact)
      : text_(text), syntax_(layout.syntax), layout_(layout), ragged_(ragged == Ragged::skip), exact_(exact) {}

  Gaps run() {
    for (const char* p = text_.begin; p < text_.end && !found_.stray_quote;) p = look_at(p);
    return std::move(found_);
  }

 private:
  /// What begins at p; gives the place behind it.
  const char* look_at(const char* p) {
    const char* const content = syntax_.content(p);
    if (syntax_.at_end(content) && layout_.passes_over_blank_lines()) {
      found_.why.blank.add(text_.place(p));
      return leave_out(p, syntax_.after_line(content));
    }
    if (syntax_.is_comment(content)) {
      const char* const end = syntax_.after_line(content);
      // Who cut the file took such quotes for those of fields.
      found_.stray_quote = !exact_ && std::find(content, end, '"') != end;
      return leave_out(p, end);
    }
    const char* const end = exact_ ? end_by_fields(p) : end_by_quotes(p);
    if (!ragged_ || is_as_wide(p, end)) return end;
    const std::size_t fields = fields_of(p);
    if (fields == layout_.names.size() || found_.stray_quote || fields == 0) return end;
    if (found_.why.ragged.count == 0) found_.why.fields = fields;
    found_.why.ragged.add(text_.place(p));
    return leave_out(p, end);
  }

  const char* leave_out(const char* from, const char* to) {
    to = std::min(to, text_.end);
    found_.gaps.push_back({static_cast<std::size_t>(from - text_.begin), static_cast<std::size_t>(to - text_.begin)});
    return to;
  }

  /// Where a record ends if quotes only stand around fields: behind the first newline with an even number before it.
  const char* end_by_quotes(const char* p) const {
    std::ptrdiff_t quotes = 0;
    while (p < text_.end) {
      const auto* newline =
          static_cast<const char*>(std::memchr(p, syntax_.newline, static_cast<std::size_t>(text_.end - p)));
      const char* const end = newline ? newline : text_.end;
      quotes += std::count(p, end, '"');
      p = end + 1;
      if (quotes % 2 == 0) break;
    }
    return p;
  }

  /// Where it ends by its fields; the end of the text when one of them is malformed, which the parser then says.
  const char* end_by_fields(const char* p) const {
    bool stray = false;
    try {
      for (const char* next = syntax_.first(p); next; next = syntax_.next(p)) {
        Field field;
        p = syntax_.scan(next, text_.end, field, stray);
      }
    } catch (const Syntax::BadField&) { return text_.end; }
    return syntax_.after_line(p);
  }

  /// Where nothing is quoted, as many delimiters as are needed tell that a record is as wide as the others.
  bool is_as_wide(const char* p, const char* end) const {
    if (syntax_.blank_separated() || std::find(p, end, '"') != end) return false;
    return static_cast<std::size_t>(std::count(p, end, syntax_.delimiter)) + 1 == layout_.names.size();
  }

  /// How many fields the record has; 0 when one is malformed.
  std::size_t fields_of(const char* p) {
    std::size_t fields = 0;
    bool stray = false;
    try {
      for (const char* next = syntax_.first(p); next; next = syntax_.next(p), ++fields) {
        Field field;
        p = syntax_.scan(next, text_.end, field, stray);
      }
    } catch (const Syntax::BadField&) {
      fields = 0;
      stray = true;
    }
    found_.stray_quote |= stray && !exact_;
    return fields;
  }

  const Text text_;
  const Syntax syntax_;
  const Layout& layout_;
  const bool ragged_, exact_;
  Gaps found_;
};

}  // namespace

void LeftOut::merge(const LeftOut& other) {
  if (other.ragged.first < ragged.first) fields = other.fields;
  blank.merge(other.blank);
  ragged.merge(other.ragged);
}

Gaps find_gaps(const Text& text, const Layout& layout, Ragged ragged, bool exact) {
  return Finder(text, layout, ragged, exact).run();
}

}  // namespace lemma::csv
