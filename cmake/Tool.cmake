# app/*.cpp is the command `lemma`. All but main.cpp are an object library, so that app/*_test.cpp can use them.
file(GLOB app_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/app/*.cpp")
list(FILTER app_sources EXCLUDE REGEX "_test\\.cpp$")
set(app_main "${PROJECT_SOURCE_DIR}/app/main.cpp")
list(REMOVE_ITEM app_sources "${app_main}")

if(app_sources)
  lemma_precompile(lemma_app_pch ${LEMMA_METHOD_HEADERS} <CLI/CLI.hpp>)
  if(TARGET lemma_app_pch)
    target_link_libraries(lemma_app_pch PRIVATE CLI11::CLI11)
  endif()
  add_library(lemma_app_parts OBJECT ${app_sources})
  target_link_libraries(lemma_app_parts PRIVATE lemma_settings CLI11::CLI11)
  lemma_borrow_headers(lemma_app_parts lemma_app_pch)
endif()
set(LEMMA_SHARE_DIR "${PROJECT_BINARY_DIR}/share")  # man page and completions, written by the tool itself

# lemma_write_with_tool(FILE ARGUMENTS...): FILE in LEMMA_SHARE_DIR is what `lemma ARGUMENTS...` prints.
function(lemma_write_with_tool file)
  add_custom_command(OUTPUT "${LEMMA_SHARE_DIR}/${file}" VERBATIM
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${LEMMA_SHARE_DIR}"
      COMMAND lemma_app ${ARGN} > "${LEMMA_SHARE_DIR}/${file}"
      DEPENDS lemma_app)
  set_property(GLOBAL APPEND PROPERTY LEMMA_SHARE_FILES "${LEMMA_SHARE_DIR}/${file}")
endfunction()

if(EXISTS "${app_main}")
  add_executable(lemma_app "${app_main}")
  set_target_properties(lemma_app PROPERTIES OUTPUT_NAME lemma)
  target_link_libraries(lemma_app PRIVATE $<TARGET_NAME_IF_EXISTS:lemma_app_parts> lemma_settings CLI11::CLI11 lemma)
  target_link_options(lemma_app PRIVATE "LINKER:--wrap=malloc")  # see out_of_memory in app/main.cpp
  if(EXISTS "${PROJECT_SOURCE_DIR}/app/completion.cpp")
    lemma_write_with_tool(lemma.bash completion bash)
    lemma_write_with_tool(_lemma completion zsh)
    lemma_write_with_tool(lemma.fish completion fish)
  endif()
  if(EXISTS "${PROJECT_SOURCE_DIR}/app/man.cpp")
    lemma_write_with_tool(lemma.1 man)
  endif()
  get_property(share_files GLOBAL PROPERTY LEMMA_SHARE_FILES)
  add_custom_target(lemma_share ALL DEPENDS ${share_files})
endif()
