# bench/*.cpp -> lemma_bench, all but measure.cpp: that is a small program of its own which bench/run compiles.
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/bench/measure.cpp")
if(sources)
  add_executable(lemma_bench ${sources})
  target_link_libraries(lemma_bench PRIVATE lemma_settings lemma)
endif()
