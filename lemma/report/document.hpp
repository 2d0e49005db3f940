// lemma/report/document.hpp: a report before it is written: sections of words, tables, pictures and code.
#pragma once
#include <lemma/plot/figure.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lemma::reporting {

/// Words of a paragraph, or of a cell. What stands between `backticks` is code; nothing else is markup.
struct Paragraph {
  std::string text;
};
/// Something to act on, or good to know.
struct Notice {
  enum class Kind { good, note, warning };
  Kind kind = Kind::note;
  std::string title, text;
};
/// As it is typed, or as the tool prints it.
struct Code {
  std::string label, text;  // what it is, for those who cannot see it
};
struct SheetColumn {
  std::string header;
  std::vector<std::string> cells;
  bool numbers = false;  // they stand right, and sort by value
};
/// Columns of one length; a reader may sort it by any of them. The first one names the rows.
struct Sheet {
  std::string caption;
  std::vector<SheetColumn> columns = {};
  std::size_t rows() const { return columns.empty() ? 0 : columns[0].cells.size(); }
};
/// `name` is that of its file where pictures are files: letters, digits and '_'.
struct Picture {
  std::string name;
  plot::Figure figure;
};
using Block = std::variant<Paragraph, Notice, Code, Sheet, Picture>;

struct Section {
  std::string id, title;  // the id: letters and '-'
  std::vector<Block> blocks = {};
};
struct Document {
  std::string title, lead;
  std::vector<Section> sections = {};
};

/// One file that needs nothing else: styles for light, dark and paper, pictures as SVG with real text, and a short script that
/// lets tables be sorted; without it everything can be read. The same document gives the same bytes.
std::string to_html(const Document& document);

/// Pictures are files beside it, in `folder`; without one they are told in words.
struct MarkdownPage {
  std::string text;
  std::vector<std::pair<std::string, std::string>> pictures;  // the name of the file in the folder, its SVG
};
MarkdownPage to_markdown(const Document& document, const std::string& folder);

}  // namespace lemma::reporting
