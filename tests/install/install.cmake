# Installs the build tree BUILD into an empty PREFIX and checks that the main pieces arrived.
file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(pattern IN ITEMS "bin/lemma" "include/lemma/core/error.hpp" "lib*/*lemma.*" "lib*/lemmaConfig.cmake" "lib*/lemma.pc"
                         "share/doc/lemma/LICENSE")
  file(GLOB_RECURSE found "${PREFIX}/${pattern}")
  if(NOT found)
    message(FATAL_ERROR "the installation has no ${pattern}")
  endif()
endforeach()
file(GLOB_RECURSE strangers "${PREFIX}/include/*.cpp" "${PREFIX}/include/*.md")
if(strangers)
  message(FATAL_ERROR "only headers belong under include/: ${strangers}")
endif()
