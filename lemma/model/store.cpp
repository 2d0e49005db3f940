// lemma/model/store.cpp
#include <array>
#include <cstring>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <lemma/core/file.hpp>
#include <lemma/core/hash.hpp>
#include <lemma/core/version.hpp>
#include <lemma/math/blas.hpp>
#include <lemma/math/simd.hpp>
#include <lemma/model/store.hpp>

namespace lemma {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic{'L', 'E', 'M', 'M', 'A', '\r', '\n', 0x1a};
constexpr std::size_t kHeader = 24;

template <class T>
void put(std::vector<std::uint8_t>& out, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}
template <class T>
T get(const std::uint8_t* bytes) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) number |= static_cast<T>(bytes[i]) << (8 * i);
  return number;
}

/// Which program made the numbers: the same build and the same kernels give the same bits.
Value made_by() {
  Value out = Value::object();
  out.set("lemma", kVersion);
  out.set("simd", simd::level());
  out.set("blas", blas_info().core);
  return out;
}

Value document(const TrainedModel& trained) {
  Value out = Value::object();
  out.set("method", trained.model->method().name());
  out.set("params", trained.model->params());
  out.set("design", trained.design.save());
  out.set("state", trained.model->save());
  out.set("certificate", to_value(trained.model->certificate()));
  out.set("warnings", trained.model->warnings());
  out.set("notes", trained.notes);
  Value data = trained.origin.rows.save();
  data.set("name", trained.origin.name);
  out.set("data", std::move(data));
  out.set("made_by", made_by());
  return out;
}

}  // namespace

std::vector<std::uint8_t> encode(const TrainedModel& model) {
  const auto body = to_cbor(document(model));
  std::vector<std::uint8_t> out(kMagic.begin(), kMagic.end());
  put(out, kFormatVersion);
  put(out, crc32(body.data(), body.size()));
  put(out, static_cast<std::uint64_t>(body.size()));
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

TrainedModel decode_body(std::span<const std::uint8_t> body, std::span<const Method* const> methods,
                         const std::string& name) {
  try {
    const Value file = from_cbor(body.data(), body.size());
    Value params;
    auto method = method_from(file.at("method").as_string("method"), methods, params);
    Evidence evidence{certificate_from(file.at("certificate")), file.at("warnings").as_strings("warnings")};
    auto model = method->load(file.at("params"), file.at("state"), std::move(evidence));
    auto design = Design::load(file.at("design"));
    if (static_cast<Index>(design.features().size()) != model->width())
      throw Error(
          fmt::format("the design makes {} columns and the model takes {}", design.features().size(), model->width()));
    const Value& data = file.at("data");
    return {std::move(model),
            std::move(design),
            {data.at("name").as_string("data name"), RowSketch::load(data)},
            file.at("notes").as_strings("notes"),
            std::move(method)};
  } catch (const Error& error) { throw Error(fmt::format("{} is damaged or not a model: {}", name, error.what())); }
}

TrainedModel decode(std::span<const std::uint8_t> bytes, std::span<const Method* const> methods,
                    const std::string& name) {
  if (bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin()))
    throw Error(fmt::format("{} is not a Lemma model file", name));
  if (bytes.size() < kHeader) throw Error(fmt::format("{} is cut short: it ends inside its header", name));
  const auto version = get<std::uint32_t>(bytes.data() + 8);
  if (version == 0) throw Error(fmt::format("{} is damaged: it has format 0, and formats count from 1", name));
  if (version > kFormatVersion)
    throw Error(fmt::format(
        "{} has format {}, and this lemma ({}) reads up to {}: a newer lemma wrote it, use that one to read it", name,
        version, kVersion, kFormatVersion));
  const auto length = get<std::uint64_t>(bytes.data() + 16);
  const auto body = bytes.subspan(kHeader);
  if (length != body.size())
    throw Error(fmt::format("{} should hold {} bytes after its header and holds {}", name, length, body.size()));
  if (get<std::uint32_t>(bytes.data() + 12) != crc32(body.data(), body.size()))
    throw Error(fmt::format("{} is damaged: its checksum does not match", name));
  return decode_body(body, methods, name);
}

void save(const TrainedModel& model, const std::string& path) { write_file(path, encode(model)); }

TrainedModel load(const std::string& path, std::span<const Method* const> methods) {
  return decode(read_file(path), methods, path);
}

}  // namespace lemma
