// lemma/model/store.hpp: model files.
//
//     bytes 0–7    "LEMMA\r\n\x1a"     a text-mode transfer breaks it at once
//     8–11         format version      little-endian
//     12–15        CRC-32 of the body  little-endian
//     16–23        length of the body  little-endian
//     24–          CBOR: method, params, design, state, certificate, warnings, data, made_by
//
// Loading runs no code; every count is checked against the bytes left, every index against its array, every part against
// every other. Fields go by name.
#pragma once
#include <lemma/model/train.hpp>

namespace lemma {

inline constexpr std::uint32_t kFormatVersion = 2;

/// To a temporary name beside the path, then renamed: a reader sees the old file or the new one, never half.
void save(const TrainedModel& model, const std::string& path);
TrainedModel load(const std::string& path, std::span<const Method* const> methods);

/// Error unless the parts of a model fit together: the columns, classes and kind of response of the design with those of
/// the model, the intercept of the design with the parameters, and each step of a pipeline with the next. What
/// was loaded has passed it, and nothing is written that has not: whatever can be written can be read.
void check_together(const TrainedModel& model);

std::vector<std::uint8_t> encode(const TrainedModel& model);
TrainedModel decode(std::span<const std::uint8_t> bytes, std::span<const Method* const> methods,
                    const std::string& name = "model file");
/// The part behind magic, version and checksum: what a hostile file with a right checksum reaches.
TrainedModel decode_body(std::span<const std::uint8_t> body, std::span<const Method* const> methods,
                         const std::string& name);

}  // namespace lemma
