// lemma/report/markdown.cpp
#include <algorithm>
#include <fmt/core.h>
#include <lemma/report/document.hpp>

namespace lemma::reporting {
namespace {

/// Words whose marks are no markup; what stands between backticks stays as it is.
std::string words(std::string_view text, bool in_table = false) {
  std::string out;
  const bool code_is_closed = std::count(text.begin(), text.end(), '`') % 2 == 0;
  bool code = false;
  for (const char c : text) {
    if (c == '`' && code_is_closed) code = !code;
    const bool marks = !code && (c == '*' || c == '_' || c == '[' || c == ']' || c == '<' || c == '>' || c == '#' ||
                                 c == '\\' || (c == '`' && !code_is_closed));
    if (marks || (in_table && c == '|')) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// A fence longer than any inside.
std::string fence_for(std::string_view text) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) run = c == '`' ? run + 1 : 0, longest = std::max(longest, run);
  return std::string(longest + 1, '`');
}

struct Writer {
  std::string folder;
  MarkdownPage page;

  void write(const Paragraph& block) { page.text += words(block.text) + "\n\n"; }
  void write(const Notice& block) {
    const char* mark = block.kind == Notice::Kind::good ? "✓ " : block.kind == Notice::Kind::warning ? "⚠ " : "";
    page.text +=
        fmt::format("> {}**{}**{}{}\n\n", mark, words(block.title), block.text.empty() ? "" : " — ", words(block.text));
  }
  void write(const Code& block) {
    const std::string fence = fence_for(block.text);
    page.text += fence + "\n" + block.text + (block.text.ends_with('\n') ? "" : "\n") + fence + "\n\n";
  }
  void write(const Sheet& block) {
    page.text += "**" + words(block.caption) + "**\n\n";
    std::string rule;
    for (const SheetColumn& column : block.columns) {
      page.text += "| " + words(column.header, true) + " ";
      rule += column.numbers ? "|---:" : "|---";
    }
    page.text += "|\n" + rule + "|\n";
    for (std::size_t i = 0; i < block.rows(); ++i) {
      for (const SheetColumn& column : block.columns) page.text += "| " + words(column.cells[i], true) + " ";
      page.text += "|\n";
    }
    page.text += "\n";
  }
  void write(const Picture& block) {
    if (folder.empty()) {
      page.text += "(Picture: " + words(block.figure.description) + ")\n\n";
      return;
    }
    const std::string file = fmt::format("{:02}_{}.svg", page.pictures.size() + 1, block.name);
    page.text += fmt::format("![{}]({}/{})\n\n", words(block.figure.description), folder, file);
    page.pictures.emplace_back(file, plot::to_svg(block.figure));
  }
};

}  // namespace

MarkdownPage to_markdown(const Document& document, const std::string& folder) {
  Writer writer{folder, {}};
  writer.page.text = "# " + words(document.title) + "\n\n" + words(document.lead) + "\n\n";
  for (const Section& section : document.sections) {
    writer.page.text += "## " + words(section.title) + "\n\n";
    for (const Block& block : section.blocks) std::visit([&](const auto& each) { writer.write(each); }, block);
  }
  while (writer.page.text.ends_with("\n\n")) writer.page.text.pop_back();
  return std::move(writer.page);
}

}  // namespace lemma::reporting
