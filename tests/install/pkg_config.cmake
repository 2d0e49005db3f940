# Compiles SOURCE against the library installed in PREFIX with what pkg-config says, and runs it.
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
execute_process(COMMAND pkg-config --cflags --libs lemma
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
if(SANITIZE)
  list(PREPEND flags "-fsanitize=${SANITIZE}")
endif()
execute_process(COMMAND "${COMPILER}" -std=c++20 "${SOURCE}" -o "${PROGRAM}" ${flags} "-Wl,-rpath,${PREFIX}/${LIBDIR}"
                COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
