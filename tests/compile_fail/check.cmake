# Runs one case of what must not compile. A case is a file whose first line says what the compiler answers:
#
#     // must not compile: <a regular expression that the compiler's message matches>
#
# and which guards the mistake with `#ifdef MISTAKE`. Without the mistake it must compile, so that a case can't pass because
# of a missing header; with it, it must fail with the message.
file(STRINGS "${SOURCE}" first LIMIT_COUNT 1)
if(NOT first MATCHES "^// must not compile: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line must read '// must not compile: <message>'")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND "${COMPILER}" ${FLAGS} -fsyntax-only "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE message)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile even without the mistake:\n${message}")
endif()

execute_process(COMMAND "${COMPILER}" ${FLAGS} -DMISTAKE -fsyntax-only "${SOURCE}"
                RESULT_VARIABLE result ERROR_VARIABLE message)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles with the mistake")
endif()
if(NOT message MATCHES "${expected}")
  message(FATAL_ERROR "${SOURCE} fails, but not with '${expected}':\n${message}")
endif()
