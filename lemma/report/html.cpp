// lemma/report/html.cpp
#include <charconv>
#include <fmt/core.h>
#include <lemma/plot/markup.hpp>
#include <lemma/report/document.hpp>
#include <lemma/report/style.hpp>

namespace lemma::reporting {
namespace {

using plot::escaped;

/// `code` between backticks; an odd backtick is one.
std::string words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto open = text.find('`');
    const auto close = open == text.npos ? open : text.find('`', open + 1);
    if (close == text.npos) return out + escaped(text);
    out += escaped(text.substr(0, open)) + "<code>" + escaped(text.substr(open + 1, close - open - 1)) + "</code>";
    text.remove_prefix(close + 1);
  }
  return out;
}

/// The number that a cell begins with, for sorting: "0.95 [0.93, 0.97]", "1,234", "12 %".
std::string value_of(std::string_view cell) {
  std::string plain;
  for (const char c : cell)
    if (c != ',') plain += c;
    else if (plain.find(' ') != plain.npos) break;
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  return error == std::errc() ? plain.substr(0, static_cast<std::size_t>(end - plain.data())) : "";
}

std::string cell_of(const SheetColumn& column, std::size_t row, bool first) {
  const std::string& text = column.cells[row];
  const std::string tag = first ? "th scope=\"row\"" : "td";
  const std::string value = column.numbers ? value_of(text) : "";
  return fmt::format("<{}{}{}>{}</{}>", tag, column.numbers ? " class=\"n\"" : "",
                     value.empty() || value == text ? "" : " data-v=\"" + value + "\"", words(text),
                     first ? "th" : "td");
}

std::string html(const Paragraph& block) { return "<p>" + words(block.text) + "</p>\n"; }

std::string html(const Notice& block) {
  const char* kind = block.kind == Notice::Kind::good      ? "good"
                     : block.kind == Notice::Kind::warning ? "warning"
                                                           : "note";
  const std::string text = block.text.empty() ? "" : "<p>" + words(block.text) + "</p>";
  return fmt::format("<div class=\"notice {}\"><p><b>{}</b></p>{}</div>\n", kind, words(block.title), text);
}

std::string html(const Code& block) {
  return fmt::format("<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\"><code>{}</code></pre>\n",
                     escaped(block.label), escaped(block.text));
}

std::string html(const Sheet& block) {
  std::string out = fmt::format(
      "<div class=\"sheet\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\">\n<table{1}><caption>{2}</caption>\n<thead><tr>",
      escaped(block.caption), block.rows() > 1 ? " class=\"sorts\"" : "", words(block.caption));
  for (const SheetColumn& column : block.columns)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.numbers ? " class=\"n\"" : "", words(column.header));
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < block.rows(); ++i) {
    out += "<tr>";
    for (std::size_t j = 0; j < block.columns.size(); ++j) out += cell_of(block.columns[j], i, j == 0);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html(const Picture& block) {
  // on a phone it may shrink to two thirds; what is wider than that scrolls
  const int least = static_cast<int>(0.66 * block.figure.width);
  return fmt::format("<figure><div class=\"drawn\" style=\"--least:{}px\" tabindex=\"0\" role=\"region\" aria-label=\"",
                     least) +
         escaped(block.figure.title) + "\">" + plot::to_svg_in_page(block.figure) + "</div>\n<figcaption>" +
         words(block.figure.description) + "</figcaption></figure>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}{}</style>\n"
      "</head>\n<body>\n<div class=\"page\">\n<a class=\"skip\" href=\"#content\">To the content</a>\n"
      "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n<nav aria-label=\"Sections\"><ol>\n",
      escaped(document.title), kStyle, plot::svg_rules(), words(document.title), words(document.lead));
  for (const Section& section : document.sections)
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, words(section.title));
  out += "</ol></nav>\n<main id=\"content\">\n";
  for (const Section& section : document.sections) {
    out +=
        fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n", section.id, words(section.title));
    for (const Block& block : section.blocks) out += std::visit([](const auto& each) { return html(each); }, block);
    out += "</section>\n";
  }
  return out + "</main>\n</div>\n<script>" + std::string(kScript) + "</script>\n</body>\n</html>\n";
}

}  // namespace lemma::reporting
