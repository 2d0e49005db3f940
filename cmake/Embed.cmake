# The built-in data sets become part of the library through the assembler's .incbin: no compiler ever reads the bytes.
# Sets LEMMA_EMBEDDED_SOURCES, the two generated files that lemma/data/embedded.hpp declares.
file(GLOB embedded_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/*.csv")
list(SORT embedded_files)
set(embedded_credits "${PROJECT_SOURCE_DIR}/data/README.md")

set(embedded_symbols "")
set(embedded_rows "")
set(embedded_assembly "    .section .rodata\n")

function(lemma_embed symbol file)
  string(APPEND embedded_assembly
      "    .balign 64\n    .global ${symbol}_begin\n    .hidden ${symbol}_begin\n${symbol}_begin:\n"
      "    .incbin \"${file}\"\n    .global ${symbol}_end\n    .hidden ${symbol}_end\n${symbol}_end:\n    .byte 0\n")
  string(APPEND embedded_symbols "extern const char ${symbol}_begin[], ${symbol}_end[];\n")
  set(embedded_assembly "${embedded_assembly}" PARENT_SCOPE)
  set(embedded_symbols "${embedded_symbols}" PARENT_SCOPE)
endfunction()

foreach(file IN LISTS embedded_files)
  get_filename_component(name "${file}" NAME_WE)
  string(MAKE_C_IDENTIFIER "lemma_embedded_${name}" symbol)
  lemma_embed(${symbol} "${file}")
  string(APPEND embedded_rows "    {\"${name}\", ${symbol}_begin, ${symbol}_end},\n")
endforeach()
lemma_embed(lemma_embedded__credits "${embedded_credits}")
list(LENGTH embedded_files embedded_count)

set(LEMMA_EMBEDDED_SOURCES "${PROJECT_BINARY_DIR}/embedded/files.S" "${PROJECT_BINARY_DIR}/embedded/table.cpp")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/embedded/files.S" @ONLY CONTENT
"@embedded_assembly@    .section .note.GNU-stack,\"\",%progbits
")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/embedded/table.cpp" @ONLY CONTENT
"#include <lemma/data/embedded.hpp>

extern \"C\" {
@embedded_symbols@}

namespace lemma::embedded {

const File files[] = {
@embedded_rows@};
const std::size_t file_count = @embedded_count@;
const File credits = {\"README.md\", lemma_embedded__credits_begin, lemma_embedded__credits_end};

}  // namespace lemma::embedded
")
set_source_files_properties("${PROJECT_BINARY_DIR}/embedded/files.S" PROPERTIES
    OBJECT_DEPENDS "${embedded_files};${embedded_credits}")
set_source_files_properties("${PROJECT_BINARY_DIR}/embedded/table.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
