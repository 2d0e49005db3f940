// lemma/model/store.cpp
#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <lemma/core/cbor.hpp>
#include <lemma/core/cpu.hpp>
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

/// What cannot be loaded has made no number.
std::string kernels() {
  try {
    return blas_info().core;
  } catch (const MachineError&) { return "none"; }
}

/// Which program made the numbers: the same build and the same kernels give the same bits.
Value made_by() {
  Value out = Value::object();
  out.set("lemma", kVersion);
  out.set("simd", simd::level());
  out.set("blas", kernels());
  if (simd_setting().portable) out.set("portable", true);
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
  out.set("data", trained.origin.save());
  if (!trained.row_names.empty()) out.set("rows", trained.row_names.save());
  if (!trained.choice.is_null()) out.set("choice", trained.choice);
  out.set("made_by", made_by());
  return out;
}

/// The rows that a design would make, without any: their columns and the kind of their outcome.
MemoryRows described(const Design& design, const MatrixView& none) {
  MemoryRows rows(none);
  rows.features = design.features();
  rows.target = design.target();
  rows.classes = design.classes();
  rows.responses = design.responses();
  rows.has_response = design.has_response();
  rows.has_weights = !design.weights().empty() || design.counts();
  rows.has_precision = !design.precision().empty();
  rows.has_offset = design.has_offset();
  rows.has_clusters = !design.cluster().empty();
  rows.counts = design.counts();
  return rows;
}

/// A model of classes has one for each of the design's; a model of numbers none.
void check_classes(const AnyModel::Interface& model, const Design& design) {
  const auto named = static_cast<Index>(design.classes().size());
  const std::string classes = named == 1 ? "1 class" : fmt::format("{} classes", named);
  const Task task = model.task();
  if ((task == Task::classification || model.class_count() > 0) && named != model.class_count())
    throw Error(fmt::format("the design has {} and the model tells {} apart", classes, model.class_count()));
  if (task == Task::regression && named > 0)
    throw Error(fmt::format("the design has {} and the model predicts numbers", classes));
}

/// Several responses are those of the model, with as many classes each.
void check_several(const AnyModel::Interface& model, const Design& design) {
  std::vector<Index> named;
  for (const auto& response : design.responses()) named.push_back(static_cast<Index>(response.classes.size()));
  const auto told = model.response_classes();
  if (named.size() != told.size())
    throw Error(fmt::format("the design has {} responses and the model {}", std::max<std::size_t>(1, named.size()),
                            std::max<std::size_t>(1, told.size())));
  for (std::size_t k = 0; k < named.size(); ++k)
    if (named[k] != told[k])
      throw Error(
          fmt::format("response {} of the design has {} classes and that of the model {}", k + 1, named[k], told[k]));
}

/// The parameters are such as a fit takes, and a formula without an intercept is one of them.
void check_params(const AnyModel::Interface& model, const Design& design) {
  const Method& method = model.method();
  const Value params = method.check(model.params());
  if (design.intercept()) return;
  for (const auto& info : method.params()) {
    if (info.name != "intercept" && !info.name.ends_with(".intercept")) continue;
    const Value* at = &params;
    for (std::size_t from = 0, dot = 0; at && dot != std::string::npos; from = dot + 1) {
      dot = info.name.find('.', from);
      at = at->find(std::string_view(info.name).substr(from, dot == std::string::npos ? dot : dot - from));
    }
    if (at && at->is_bool() && at->as_bool())
      throw Error(fmt::format("the formula has no intercept and {} is true", info.name));
  }
}

}  // namespace

void check_together(const TrainedModel& trained) {
  const AnyModel::Interface& model = *trained.model.operator->();
  const Design& design = trained.design;
  model.check();
  if (static_cast<Index>(design.features().size()) != model.width())
    throw Error(
        fmt::format("the design makes {} columns and the model takes {}", design.features().size(), model.width()));
  check_classes(model, design);
  if (design.has_response() && model.method().about().uses_response) check_several(model, design);
  check_params(model, design);
  const Method& method = model.method();
  if (method.about().uses_response && !design.has_response())
    throw Error(fmt::format("the design has no response and {} predicts one", method.name()));
  const Matrix none(0, model.width());
  check_kind_of_rows(method.name(), method.about(), described(design, none));
}

std::vector<std::uint8_t> encode(const TrainedModel& model) {
  check_together(model);
  auto out = to_cbor_behind(kHeader, document(model));
  const std::size_t size = out.size() - kHeader;
  std::vector<std::uint8_t> head(kMagic.begin(), kMagic.end());
  put(head, kFormatVersion);
  put(head, crc32(out.data() + kHeader, size));
  put(head, static_cast<std::uint64_t>(size));
  std::copy(head.begin(), head.end(), out.begin());
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
    auto design = Design::load(file.at("design"), model->width());
    TrainedModel out{std::move(model), std::move(design), Origin::load(file.at("data")),
                     file.at("notes").as_strings("notes"), std::move(method)};
    if (const Value* rows = file.find("rows")) out.row_names = RowNames::load(*rows, out.origin.rows.rows());
    if (const Value* choice = file.find("choice")) {
      choice->as_object("choice");
      out.choice = *choice;
    }
    check_together(out);
    return out;
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
