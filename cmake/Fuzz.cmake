# Each fuzz/<name>.cpp is one libFuzzer program fuzz_<name>; its corpus lies in fuzz/corpus/<name>.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "LEMMA_FUZZ needs clang (libFuzzer comes with it): cmake --preset fuzz, after tools/setup --fuzz")
endif()
target_compile_options(lemma_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
    -fsanitize=fuzzer-no-link,address,undefined;-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
target_link_options(lemma_settings INTERFACE -fsanitize=address,undefined)

add_custom_target(lemma_fuzzers)
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*.cpp")
foreach(source IN LISTS sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(fuzz_${name} "${source}")
  target_link_libraries(fuzz_${name} PRIVATE lemma_settings lemma)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  add_dependencies(lemma_fuzzers fuzz_${name})
endforeach()
