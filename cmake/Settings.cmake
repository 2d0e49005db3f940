# What every file of Lemma is compiled with. `lemma_settings` carries it to the rooms, the tool and the tests.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g0 -DNDEBUG")

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
# Without them .xz and .zst files are refused with the command that unpacks them.
find_path(LEMMA_XZ_INCLUDE_DIR lzma.h)
find_library(LEMMA_XZ_LIBRARY lzma)
find_path(LEMMA_ZSTD_INCLUDE_DIR zstd.h)
find_library(LEMMA_ZSTD_LIBRARY zstd)
set(LEMMA_PACKING_LIBRARIES "")
set(LEMMA_PACKING_DEFINITIONS "")
foreach(packing IN ITEMS XZ ZSTD)
  if(LEMMA_${packing}_INCLUDE_DIR AND LEMMA_${packing}_LIBRARY)
    list(APPEND LEMMA_PACKING_LIBRARIES "${LEMMA_${packing}_LIBRARY}")
    list(APPEND LEMMA_PACKING_DEFINITIONS LEMMA_HAS_${packing})
  endif()
endforeach()
set_source_files_properties("${PROJECT_SOURCE_DIR}/lemma/data/csv/packed.cpp" PROPERTIES
    COMPILE_DEFINITIONS "${LEMMA_PACKING_DEFINITIONS}")
# Images: see lemma/data/image/.
find_path(LEMMA_PNG_INCLUDE_DIR png.h REQUIRED)
find_library(LEMMA_PNG_LIBRARY png REQUIRED)
find_path(LEMMA_JPEG_INCLUDE_DIR jpeglib.h REQUIRED)
find_library(LEMMA_JPEG_LIBRARY jpeg REQUIRED)
set(LEMMA_IMAGE_LIBRARIES "${LEMMA_PNG_LIBRARY}" "${LEMMA_JPEG_LIBRARY}")
find_package(hwy REQUIRED)
find_package(CLI11 REQUIRED)
# Only the header: the library is opened on first use, see lemma/optimize/clp.cpp.
find_path(LEMMA_CLP_INCLUDE_DIR coin/Clp_C_Interface.h REQUIRED)
# Likewise, for PNG and PDF: see lemma/plot/raster.cpp.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LEMMA_RSVG REQUIRED librsvg-2.0)
set_source_files_properties("${PROJECT_SOURCE_DIR}/lemma/plot/raster.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "-isystem;$<JOIN:${LEMMA_RSVG_INCLUDE_DIRS},;-isystem;>")

# ccache, when it is there. With precompiled headers it must not look at times and macros of the header (ccache manual,
# "Precompiled headers"). Paths count from the sources, so that another clone finds what this one compiled.
find_program(LEMMA_CCACHE ccache)
if(LEMMA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${LEMMA_CCACHE}")
endif()

add_library(lemma_settings INTERFACE)
target_compile_features(lemma_settings INTERFACE cxx_std_20)
target_include_directories(lemma_settings INTERFACE "${PROJECT_SOURCE_DIR}")
target_link_libraries(lemma_settings INTERFACE
    Eigen3::Eigen TBB::tbb fmt::fmt ZLIB::ZLIB SQLite::SQLite3 ${LEMMA_PACKING_LIBRARIES} ${LEMMA_IMAGE_LIBRARIES} hwy::hwy
    Threads::Threads ${CMAKE_DL_LIBS})

# What a user of the headers must share with us. Eigen's alignment decides how a matrix is allocated and freed, so a
# program built with -mavx has to agree with a library built without.
set(LEMMA_PUBLIC_DEFINITIONS EIGEN_MPL2_ONLY EIGEN_DONT_PARALLELIZE EIGEN_MAX_ALIGN_BYTES=16)
target_compile_definitions(lemma_settings INTERFACE ${LEMMA_PUBLIC_DEFINITIONS})

# No contraction to fused multiply-adds: the same bits from every compiler and for every target CPU.
# Svm{.C = 10} leaves the other fields to their defaults on purpose, which -Wextra would call missing initialisers.
target_compile_options(lemma_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-Wall;-Wextra;-Wpedantic;-Wshadow;-Wno-missing-field-initializers>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The optimiser's guesses, seen through Eigen's templates: worth reading, not worth a failed build.
  target_compile_options(lemma_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
      -Wno-error=maybe-uninitialized;-Wno-error=array-bounds;-Wno-error=stringop-overflow>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # wrong about std::string (PR 105651)
    target_compile_options(lemma_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
        -Wno-restrict;-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow>)
  endif()
endif()
if(LEMMA_WERROR)
  target_compile_options(lemma_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(LEMMA_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # instrumented code looks uninitialised to GCC even inside std::regex
    target_compile_options(lemma_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
  target_compile_options(lemma_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
      -fsanitize=${LEMMA_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
  target_link_options(lemma_settings INTERFACE -fsanitize=${LEMMA_SANITIZE})
endif()

# lemma_precompile(TARGET HEADERS...): a target whose precompiled headers others borrow with lemma_borrow_headers().
function(lemma_precompile target)
  if(NOT LEMMA_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled/${target}.cpp" CONTENT "" @ONLY)
  add_library(${target} OBJECT "${PROJECT_BINARY_DIR}/precompiled/${target}.cpp")
  target_link_libraries(${target} PRIVATE lemma_settings)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # else ccache would see a new header after every touch
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

function(lemma_borrow_headers target from)
  if(NOT LEMMA_PCH)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

set(LEMMA_COMMON_HEADERS
    <algorithm> <array> <cmath> <cstddef> <cstdint> <functional> <limits> <map> <memory> <optional> <span> <string>
    <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <Eigen/Core> <fmt/core.h>)
lemma_precompile(lemma_headers_pch ${LEMMA_COMMON_HEADERS})
# For the families and whoever comes after them, who all include what a method is.
set(LEMMA_METHOD_HEADERS ${LEMMA_COMMON_HEADERS} "${PROJECT_SOURCE_DIR}/lemma/model/method.hpp")
lemma_precompile(lemma_methods_pch ${LEMMA_METHOD_HEADERS})
