# Each folder lemma/<room>/ is an object library lemma_<room>; all of them together are the library `lemma`.
# A room that has no source yet is skipped. LEMMA_ROOMS lists the rooms found, in their order.
set(LEMMA_ROOMS "")

function(lemma_add_room room)
  list(FILTER ARGN EXCLUDE REGEX "_test\\.cpp$")
  if(NOT ARGN)
    return()
  endif()
  add_library(lemma_${room} OBJECT ${ARGN})
  target_link_libraries(lemma_${room} PRIVATE lemma_settings)
  lemma_borrow_headers(lemma_${room} lemma_headers_pch)
  set(LEMMA_ROOMS ${LEMMA_ROOMS} ${room} PARENT_SCOPE)
endfunction()

# The door to oneTBB tells the thread sanitizer itself what happens before what: see crew.cpp.
if(LEMMA_SANITIZE MATCHES "thread")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/lemma/core/crew.cpp" PROPERTIES SKIP_PRECOMPILE_HEADERS ON
      COMPILE_OPTIONS -fno-sanitize=thread COMPILE_DEFINITIONS LEMMA_THREAD_SANITIZER)
endif()

foreach(room IN LISTS LEMMA_GROUND LEMMA_FAMILIES LEMMA_UPPER)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lemma/${room}/*.cpp")
  if(room STREQUAL "data")
    list(APPEND sources ${LEMMA_EMBEDDED_SOURCES})
  endif()
  lemma_add_room(${room} ${sources})
endforeach()
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lemma/*.cpp")
lemma_add_room(catalog ${sources})

add_library(lemma)
add_library(lemma::lemma ALIAS lemma)
foreach(room IN LISTS LEMMA_ROOMS)
  target_sources(lemma PRIVATE $<TARGET_OBJECTS:lemma_${room}>)
endforeach()
set_target_properties(lemma PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
target_compile_features(lemma PUBLIC cxx_std_20)
target_compile_definitions(lemma PUBLIC ${LEMMA_PUBLIC_DEFINITIONS})
target_include_directories(lemma PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(lemma PUBLIC Eigen3::Eigen fmt::fmt
                            PRIVATE TBB::tbb ZLIB::ZLIB hwy::hwy Threads::Threads ${CMAKE_DL_LIBS})
if(LEMMA_SANITIZE)
  target_link_options(lemma PRIVATE -fsanitize=${LEMMA_SANITIZE})
endif()
