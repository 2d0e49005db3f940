// app/vq.cpp: lemma vq IMAGE --codewords 128: an image in few bits, by k-means on its blocks.
#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <lemma/cluster/kmeans/vq.hpp>
#include <lemma/core/text.hpp>
#include <lemma/data/image/pixels.hpp>
#include <tuple>

namespace lemma::app {
namespace {

struct VqCall {
  std::string image, output, codebook, block = "3x3";
  std::vector<std::string> codewords;
  VqOptions how;
};

std::vector<int> numbers_of_codewords(const std::vector<std::string>& typed) {
  std::vector<int> out;
  for (const auto& each : typed) {
    int number = 0;
    const char* const end = each.data() + each.size();
    const auto [stop, status] = std::from_chars(each.data(), end, number);
    if (status != std::errc() || stop != end || number < 1 || number > kMostCodewords)
      throw Error(fmt::format("--codewords is '{}', must be a whole number from 1 to {}, or several: 1024,128,16", each,
                              format_count(kMostCodewords)));
    out.push_back(number);
  }
  return out.empty() ? std::vector<int>{128} : out;
}

struct Coded {
  Vq vq;
  Image back;
  double noise = 0;
};

std::string name_of_kind(const Image& image) { return image.channels == 1 ? "grey" : "in colour"; }

std::string text_of(const VqCall& options, const Image& image, const std::vector<Coded>& all) {
  std::vector<double> words, bits, per_pixel, with_book;
  std::vector<std::string> noise, settled;
  for (const auto& [vq, back, ratio] : all) {
    words.push_back(vq.codewords);
    bits.push_back(vq.code_bits());
    per_pixel.push_back(vq.bits_per_pixel());
    with_book.push_back(vq.bits_with_codebook());
    noise.push_back(std::isinf(ratio) ? "exact" : format_fixed(ratio, 2));
    settled.push_back(vq.certificate.holds() ? "yes" : "no");
  }
  const auto fixed = [](const std::vector<double>& numbers) {
    std::vector<std::string> out;
    for (const double each : numbers) out.push_back(format_fixed(each, 2));
    return out;
  };
  std::string out = fmt::format("{}: {} x {} pixels, {}, {} bits per pixel; {} of {}\n\n", options.image, image.height,
                                image.width, name_of_kind(image), 8 * image.channels,
                                count_of(std::ssize(all.front().vq.codes), "block"), options.block);
  return out + TextTable()
                   .numbers("codewords", words)
                   .numbers("bits of a code", bits)
                   .right("bits per pixel", fixed(per_pixel))
                   .right("with the codebook", fixed(with_book))
                   .right("PSNR (dB)", noise)
                   .right("fixed point", settled)
                   .str();
}

Value document_of(const VqCall& options, const Image& image, const std::vector<Coded>& all) {
  Value out = Value::object();
  out.set("image", options.image).set("height", image.height).set("width", image.width);
  out.set("channels", image.channels).set("block", options.block);
  out.set("blocks", static_cast<std::int64_t>(all.front().vq.codes.size()));
  Value::List list;
  for (const auto& [vq, back, noise] : all) {
    Value one = Value::object();
    one.set("codewords", vq.codewords).set("code_bits", vq.code_bits());
    one.set("bits_per_pixel", vq.bits_per_pixel()).set("bits_with_codebook", vq.bits_with_codebook());
    one.set("psnr", std::isinf(noise) ? Value() : Value(noise));
    one.set("certificate_holds", vq.certificate.holds());
    list.push_back(std::move(one));
  }
  out.set("codings", std::move(list));
  return out;
}

void vq(VqCall& options, Context& context) {
  const auto words = numbers_of_codewords(options.codewords);
  const auto sides = parse_size(options.block);
  if (!sides || sides->first < 1 || sides->second < 1 || sides->first > kMostBlockSide ||
      sides->second > kMostBlockSide)
    throw Error(fmt::format("--block is '{}', must be height x width, such as 3x3, of at most {} pixels a side",
                            options.block, kMostBlockSide));
  std::tie(options.how.block_height, options.how.block_width) = *sides;
  std::vector<std::string> outputs;
  for (const auto& each : {options.output, options.codebook})
    if (!each.empty()) outputs.push_back(each);
  if (!outputs.empty() && words.size() > 1)
    throw Error("the image and the codebook are written of one number of codewords: take one of --codewords");
  check_outputs(outputs, {options.image});
  std::optional<Output> image_file, book_file;
  const Image image = read_image(options.image);
  if (!options.output.empty()) image_file.emplace(options.output, Output::Content::binary, context);
  if (!options.codebook.empty()) book_file.emplace(options.codebook, Output::Content::binary, context);
  FitOptions fit;
  fit.seed = context.seed;
  fit.threads = context.execution().threads;
  fit.progress = context.progress();
  std::vector<Coded> all;
  for (const int each : words) {
    options.how.codewords = each;
    Coded coded{quantise(image, options.how, fit), {}, 0};
    coded.back = reconstruct(coded.vq);
    coded.noise = peak_signal_to_noise(image, coded.back);
    if (!coded.vq.certificate.holds())
      context.warn(fmt::format(
          "{}: k-means did not come to rest in {} ({}); more of them, by --max_iterations, may be "
          "nearer",
          count_of(each, "codeword"), count_of(options.how.max_iterations, "iteration"), coded.vq.certificate.stopped));
    all.push_back(std::move(coded));
  }
  const auto write = [&](std::optional<Output>& file, const Image& what, const char* name) {
    if (!file) return;
    file->write(encode_png(what));
    file->done();
    context.note(fmt::format("{} written to {}", name, file->name()));
  };
  if (context.json) context.print_json(document_of(options, image, all));
  else context.print(text_of(options, image, all));
  write(image_file, all.front().back, "the image as it is decoded");
  if (book_file) write(book_file, codebook_image(all.front().vq), "the codewords, the most used first,");
}

}  // namespace

void add_vq(CLI::App& tool, Context& context) {
  auto options = std::make_shared<VqCall>();
  auto* command = add_command(tool, "vq", "an image in few bits: k-means on its blocks (vector quantisation)");
  add_option(*command, "IMAGE", options->image, "a PNG or JPEG file")->required();
  add_option(*command, "--block", options->block, "height and width of the blocks, in pixels")->capture_default_str();
  add_option(*command, "--codewords", options->codewords, "how many blocks the codebook has, or several (default: 128)")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_option(*command, "--restarts", options->how.restarts, "starts of k-means, of which the best is kept")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_option(*command, "--max_iterations", options->how.max_iterations, "most iterations of one start")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_option(*command, "-o,--output", options->output, "where to write the image as it is decoded, as PNG")
      ->each(check_named);
  add_option(*command, "--codebook", options->codebook, "where to write the codewords side by side, as PNG")
      ->each(check_named);
  command->footer(
      "A code takes log2(codewords) bits, rounded up, and the codebook 8 bits a level.\n"
      "Example: lemma vq photo.jpg --codewords 1024,128,16");
  command->callback([options, &context] { vq(*options, context); });
}

}  // namespace lemma::app
