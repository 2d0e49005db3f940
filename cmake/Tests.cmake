# lemma/<room>/**/*_test.cpp -> test_<room>, tests/*_test.cpp -> test_house, app/*_test.cpp -> test_app.
# A test of the ground floor links its own room and the earlier ones, a family's test the ground floor and its own room:
# a step backwards does not link, and a room can be tested while a later one is broken. All others link everything, and so do the
# tests of ensemble/, whose methods are made of those of all families.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)

# A process for each room is what a run of all tests can afford: one for each of the thousands of tests spends minutes on
# starting. Under a sanitizer one that is ended must not take the rest of its room with it.
option(LEMMA_EACH_TEST "each test one of ctest's own, in a process of its own" OFF)

add_library(lemma_test_settings INTERFACE)
target_link_libraries(lemma_test_settings INTERFACE lemma_settings GTest::gtest_main GTest::gtest rapidcheck)
# The numeric loops are the library's: tests are compiled once and run once, so compiling fast is worth more.
target_compile_options(lemma_test_settings INTERFACE $<$<CONFIG:Release>:-O1>)

add_library(lemma_test_places OBJECT "${PROJECT_SOURCE_DIR}/tests/places.cpp"
    "${PROJECT_SOURCE_DIR}/tests/fixed_seed.cpp")
target_link_libraries(lemma_test_places PRIVATE lemma_settings)
target_compile_definitions(lemma_test_places PRIVATE
    LEMMA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LEMMA_TOOL="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/lemma")

set(CMAKE_POSITION_INDEPENDENT_CODE OFF)  # executables all: one precompiled header must fit them
lemma_precompile(lemma_ground_tests_pch ${LEMMA_COMMON_HEADERS} <gtest/gtest.h>)
lemma_precompile(lemma_tests_pch ${LEMMA_COMMON_HEADERS} <gtest/gtest.h> "${PROJECT_SOURCE_DIR}/lemma/model/fit.hpp")
foreach(pch IN ITEMS lemma_ground_tests_pch lemma_tests_pch)
  if(TARGET ${pch})
    target_link_libraries(${pch} PRIVATE lemma_test_settings)
  endif()
endforeach()

add_custom_target(lemma_tests)  # all tests, and nothing else

# lemma_add_tests(NAME LINK TARGETS... SOURCES FILES...)
function(lemma_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;SOURCES")
  list(FILTER arg_SOURCES INCLUDE REGEX "_test\\.cpp$")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${arg_LINK} lemma_test_places lemma_test_settings)
  if(name IN_LIST LEMMA_GROUND)
    lemma_borrow_headers(test_${name} lemma_ground_tests_pch)
  else()
    lemma_borrow_headers(test_${name} lemma_tests_pch)
  endif()
  add_dependencies(lemma_tests test_${name})
  if(LEMMA_EACH_TEST)
    gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}/"
                         PROPERTIES TIMEOUT 1800)
  endif()
endfunction()

# lemma_objects_of(RESULT ROOMS...): the object libraries of those rooms that exist.
function(lemma_objects_of result)
  list(TRANSFORM ARGN PREPEND lemma_)
  set(found "")
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      list(APPEND found ${target})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# In an archive: it is taken only where a test does not bring a catalog of its own.
add_library(lemma_no_catalog STATIC "${PROJECT_SOURCE_DIR}/tests/no_catalog.cpp")
target_link_libraries(lemma_no_catalog PRIVATE lemma_settings)

set(below "")
foreach(room IN LISTS LEMMA_GROUND LEMMA_FAMILIES LEMMA_UPPER)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lemma/${room}/*_test.cpp")
  if(room IN_LIST LEMMA_GROUND)
    list(APPEND below ${room})
    lemma_objects_of(linked ${below})
    list(APPEND linked lemma_no_catalog)
  elseif(room STREQUAL "ensemble")  # methods made of methods, which come from the catalog
    set(linked lemma)
  elseif(room IN_LIST LEMMA_FAMILIES)
    lemma_objects_of(linked ${LEMMA_GROUND} ${room})
    list(APPEND linked lemma_no_catalog)
  else()
    set(linked lemma)
  endif()
  lemma_add_tests(${room} LINK ${linked} SOURCES ${sources})
endforeach()

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lemma/*_test.cpp")
lemma_add_tests(catalog LINK lemma SOURCES ${sources})
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")
lemma_add_tests(house LINK lemma SOURCES ${sources})
# Many forged model files, for a sanitizer: not built with the rest.
add_executable(lemma_forge EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/forge/main.cpp")
target_link_libraries(lemma_forge PRIVATE lemma lemma_test_settings)
lemma_borrow_headers(lemma_forge lemma_tests_pch)
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/app/*_test.cpp")
lemma_add_tests(app LINK $<TARGET_NAME_IF_EXISTS:lemma_app_parts> lemma CLI11::CLI11 SOURCES ${sources})
foreach(test IN ITEMS test_house test_app test_catalog)  # they run the tool
  if(TARGET ${test} AND TARGET lemma_app)
    add_dependencies(${test} lemma_app)
  endif()
endforeach()

# tests/layers_test.cpp reads the sources; the order of the rooms comes from the one list.
list(JOIN LEMMA_GROUND " " ground)
list(JOIN LEMMA_FAMILIES " " families)
list(JOIN LEMMA_UPPER " " upper)
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/layers_test.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_DEFINITIONS "LEMMA_GROUND=\"${ground}\";LEMMA_FAMILIES=\"${families}\";LEMMA_UPPER=\"${upper}\"")

if(NOT LEMMA_SANITIZE)
  include(HeadersAlone)
  add_dependencies(lemma_tests lemma_headers_alone)
endif()

# What must not compile: see tests/compile_fail/check.cmake.
get_target_property(eigen_include Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
file(GLOB cases CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cpp")
foreach(case IN LISTS cases)
  get_filename_component(name "${case}" NAME_WE)
  add_test(NAME compile_fail/${name} COMMAND "${CMAKE_COMMAND}"
      "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DSOURCE=${case}"
      "-DFLAGS=-std=c++20;-I${PROJECT_SOURCE_DIR};-isystem;${eigen_include}"
      -P "${PROJECT_SOURCE_DIR}/tests/compile_fail/check.cmake")
  set_tests_properties(compile_fail/${name} PROPERTIES TIMEOUT 1800)
endforeach()

# The examples of docs/from_cpp.md: the page shows what they print.
add_executable(from_cpp "${PROJECT_SOURCE_DIR}/examples/from_cpp.cpp")
target_link_libraries(from_cpp PRIVATE lemma lemma_test_settings)
lemma_borrow_headers(from_cpp lemma_tests_pch)
add_dependencies(lemma_tests from_cpp)

if(TARGET lemma_app AND LEMMA_EACH_TEST)  # else one of the tests at each level, below
  add_test(NAME docs/pages_show_what_the_tool_says
           COMMAND "${PROJECT_SOURCE_DIR}/tools/generate" --check --tool $<TARGET_FILE:lemma_app>)
  set_tests_properties(docs/pages_show_what_the_tool_says PROPERTIES TIMEOUT 1800)
endif()

# Reports and pictures in headless Chromium, where there is one (tools/setup --browser).
if(TARGET lemma_app AND NOT LEMMA_SANITIZE)
  add_test(NAME browser/reports_and_pictures
           COMMAND "${PROJECT_SOURCE_DIR}/tests/browser/run" $<TARGET_FILE:lemma_app>)
  set_tests_properties(browser/reports_and_pictures PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
endif()

# All tests with this machine's own vector units, and at other levels too, as other machines would: the rooms with their
# golden values, the contract, the tool and the pages. One process for each room and level, a few for the house, which
# takes longest and so comes first. (Portable work is done with the kernels of avx2.) Whether this CPU has a level is found
# out when the tests run.
if(TARGET lemma_app AND NOT LEMMA_SANITIZE)
  set(levels baseline portable)
  if(NOT LEMMA_EACH_TEST)
    list(PREPEND levels native)
  endif()
  set(house_parts 8)
  math(EXPR last_part "${house_parts} - 1")
  foreach(level IN LISTS levels)
    set(at_level "${PROJECT_SOURCE_DIR}/tests/at_level" ${level} $<TARGET_FILE:lemma_app>)
    set(these "")
    foreach(name IN LISTS LEMMA_GROUND LEMMA_FAMILIES LEMMA_UPPER ITEMS catalog app)
      if(TARGET test_${name})
        add_test(NAME level_${level}/${name} COMMAND ${at_level} $<TARGET_FILE:test_${name}> --gtest_brief=1)
        list(APPEND these level_${level}/${name})
      endif()
    endforeach()
    foreach(part RANGE ${last_part})
      add_test(NAME level_${level}/house_${part} COMMAND ${at_level} "${CMAKE_COMMAND}" -E env
               GTEST_TOTAL_SHARDS=${house_parts} GTEST_SHARD_INDEX=${part} $<TARGET_FILE:test_house> --gtest_brief=1)
      set_tests_properties(level_${level}/house_${part} PROPERTIES COST 100)
      list(APPEND these level_${level}/house_${part})
    endforeach()
    add_test(NAME level_${level}/pages COMMAND ${at_level}
             "${PROJECT_SOURCE_DIR}/tools/generate" --check --tool $<TARGET_FILE:lemma_app>)
    list(APPEND these level_${level}/pages)
    set_tests_properties(${these} PROPERTIES TIMEOUT 3600 SKIP_RETURN_CODE 77)
  endforeach()
  add_test(NAME levels/nothing_to_run_is_said
           COMMAND "${PROJECT_SOURCE_DIR}/tests/at_level" baseline $<TARGET_FILE:lemma_app>)
  set_tests_properties(levels/nothing_to_run_is_said PROPERTIES PASS_REGULAR_EXPRESSION "usage: ")
endif()

# A project outside finds the installed library, through CMake and through pkg-config, and runs.
if(PROJECT_IS_TOP_LEVEL)
  set(prefix "${PROJECT_BINARY_DIR}/installed")
  set(outside "${PROJECT_SOURCE_DIR}/tests/install")
  add_test(NAME install/into_a_prefix COMMAND "${CMAKE_COMMAND}"
      "-DBUILD=${PROJECT_BINARY_DIR}" "-DPREFIX=${prefix}" -P "${outside}/install.cmake")
  add_test(NAME install/found_by_cmake COMMAND "${CMAKE_CTEST_COMMAND}"
      --build-and-test "${outside}" "${PROJECT_BINARY_DIR}/outside" --build-generator Ninja --build-noclean
      --build-options "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
                      "-DSANITIZE=${LEMMA_SANITIZE}"
      --test-command outside)
  add_test(NAME install/found_by_pkg_config COMMAND "${CMAKE_COMMAND}"
      "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DPREFIX=${prefix}" "-DLIBDIR=${CMAKE_INSTALL_LIBDIR}"
      "-DSANITIZE=${LEMMA_SANITIZE}" "-DSOURCE=${outside}/main.cpp" "-DPROGRAM=${PROJECT_BINARY_DIR}/outside_by_pkg_config"
      -P "${outside}/pkg_config.cmake")
  set_tests_properties(install/into_a_prefix PROPERTIES TIMEOUT 1800 FIXTURES_SETUP installed)
  set_tests_properties(install/found_by_cmake install/found_by_pkg_config PROPERTIES
      TIMEOUT 1800 FIXTURES_REQUIRED installed)
endif()
