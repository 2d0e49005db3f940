# What `cmake --install` puts in place: headers, library, tool, and how CMake and pkg-config find them.
include(CMakePackageConfigHelpers)

install(TARGETS lemma EXPORT lemmaTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/lemma" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/lemma")
install(EXPORT lemmaTargets NAMESPACE lemma:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/lemmaConfig.cmake.in" "${PROJECT_BINARY_DIR}/lemmaConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lemmaConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lemmaConfig.cmake" "${PROJECT_BINARY_DIR}/lemmaConfigVersion.cmake"
        DESTINATION "${package_dir}")

# A program that links the static library needs the library's own packages too; pkg-config then lists them as public.
list(TRANSFORM LEMMA_PUBLIC_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE definitions)
list(JOIN definitions " " LEMMA_PC_DEFINITIONS)
if(BUILD_SHARED_LIBS)
  set(LEMMA_PC_REQUIRES "eigen3 fmt")
  set(LEMMA_PC_LIBS "-llemma")
else()
  set(LEMMA_PC_REQUIRES "eigen3 fmt tbb zlib sqlite3 libhwy libpng libjpeg")
  if("LEMMA_HAS_XZ" IN_LIST LEMMA_PACKING_DEFINITIONS)
    string(APPEND LEMMA_PC_REQUIRES " liblzma")
  endif()
  if("LEMMA_HAS_ZSTD" IN_LIST LEMMA_PACKING_DEFINITIONS)
    string(APPEND LEMMA_PC_REQUIRES " libzstd")
  endif()
  set(LEMMA_PC_LIBS "-llemma -lpthread -ldl")
endif()
file(RELATIVE_PATH LEMMA_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/lemma.pc.in" "${PROJECT_BINARY_DIR}/lemma.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/lemma.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The man page and the completions are written by the tool when everything is built; without them there is no installation.
if(TARGET lemma_app)
  install(TARGETS lemma_app)
  install(FILES "${LEMMA_SHARE_DIR}/lemma.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${LEMMA_SHARE_DIR}/lemma.bash" RENAME lemma
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${LEMMA_SHARE_DIR}/_lemma" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${LEMMA_SHARE_DIR}/lemma.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

# The pages, with links that hold where they are installed: see cmake/InstalledPages.cmake.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")
set(PAGES \"${PROJECT_BINARY_DIR}/pages\")
set(DOCDIR \"/${CMAKE_INSTALL_DOCDIR}\")
set(INCLUDEDIR \"/${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/InstalledPages.cmake")
install(DIRECTORY "${PROJECT_BINARY_DIR}/pages/" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
