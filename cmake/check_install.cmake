cmake_minimum_required(VERSION 3.25)

# Installs the build into a prefix of its own, then configures, builds and runs examples/consumer against it, once by
# find_package and, where pkg-config is there, once by its flags.
set(prefix "${BUILD_DIR}/install-check/prefix")
set(consumer "${BUILD_DIR}/install-check/consumer")
file(REMOVE_RECURSE "${BUILD_DIR}/install-check")

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
step("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/examples/consumer" -B "${consumer}" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}")
step("${CMAKE_COMMAND}" --build "${consumer}")
step("${consumer}/consumer")
message(STATUS "find_package: ${output}")

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  step("${PKG_CONFIG}" --cflags --libs --static tessera-core)
  separate_arguments(flags UNIX_COMMAND "${output}")
  step("${CXX_COMPILER}" -std=c++20 "${SOURCE_DIR}/examples/consumer/consumer.cpp" ${flags}
    "-Wl,-rpath,${prefix}/${LIBDIR}" -o "${consumer}/consumer-pkg-config")
  step("${consumer}/consumer-pkg-config")
  message(STATUS "pkg-config: ${output}")
endif()
