cmake_minimum_required(VERSION 3.25)
# Installs the build tree BUILD into an empty PREFIX and checks that the main pieces arrived.
file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(pattern IN ITEMS "bin/lemma" "include/lemma/core/error.hpp" "lib*/*lemma.*" "lib*/lemmaConfig.cmake" "lib*/lemma.pc"
                         "share/doc/lemma/LICENSE" "share/doc/lemma/docs/walk.md" "share/doc/lemma/lemma/linear/ols.md"
                         "share/man/man1/lemma.1" "share/bash-completion/completions/lemma"
                         "share/zsh/site-functions/_lemma" "share/fish/vendor_completions.d/lemma.fish")
  file(GLOB_RECURSE found "${PREFIX}/${pattern}")
  if(NOT found)
    message(FATAL_ERROR "the installation has no ${pattern}")
  endif()
endforeach()
file(GLOB_RECURSE strangers "${PREFIX}/include/*.cpp" "${PREFIX}/include/*.md")
if(strangers)
  message(FATAL_ERROR "only headers belong under include/: ${strangers}")
endif()

# Links between the installed pages, and from them to the headers, lead to what is installed.
set(doc "${PREFIX}/share/doc/lemma")
file(GLOB_RECURSE pages "${doc}/*.md")
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  cmake_path(GET page PARENT_PATH folder)
  string(REGEX MATCHALL "\\]\\([A-Za-z0-9_./-]+\\.[a-z]+" links "${text}")
  string(REPLACE "](" "" links "${links}")
  foreach(link IN LISTS links)
    if(NOT EXISTS "${folder}/${link}")
      message(FATAL_ERROR "${page} links to ${link}, which is not installed")
    endif()
  endforeach()
endforeach()
