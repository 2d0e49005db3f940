// lemma/data/csv/encoding.hpp: files in other encodings, read as if they were UTF-8.
#pragma once
#include <lemma/core/parallel.hpp>
#include <lemma/data/csv.hpp>
#include <lemma/data/csv/bytes.hpp>
#include <memory>
#include <optional>

namespace lemma {

/// The bytes themselves where they are UTF-8, which they are unless somebody says otherwise or they begin with the mark of
/// UTF-16. Else their text in UTF-8, made piece by piece whenever it is read: the file is passed over once to learn
/// where the pieces lie, and is never in memory as a whole. Error where it is not what it is said to be.
std::unique_ptr<Bytes> as_utf8(std::unique_ptr<Bytes> bytes, const std::optional<Encoding>& encoding,
                               const std::string& source, const Execution& execution);

}  // namespace lemma
