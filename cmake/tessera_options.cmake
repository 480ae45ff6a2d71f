# Options, build-wide settings and the interface target that every source of ours is compiled with.

option(BUILD_SHARED_LIBS "Build shared libraries" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_TOOLS "Build the tessera command" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_WITH_GDAL "Build tessera::io on GDAL; without it there is no io and no command" ON)
option(TESSERA_WARNINGS_AS_ERRORS "Treat warnings in this project's own sources as errors" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_INSTALL "Create install rules" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_USE_CCACHE "Compile through ccache where it is installed" ${PROJECT_IS_TOP_LEVEL})
set(TESSERA_KERNEL_OPTIMIZATION "-O" CACHE STRING "Optimisation flag of glslc; drivers optimise again")
option(TESSERA_CHECKED_ACCESS "Compare every memory access of kernels with what was declared; for tests, slow" OFF)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers for the whole build, for example address,undefined or thread")

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  # The time is spent in kernels; -O3 only makes the host code slower to build.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  # Programs find the libraries beside them wherever the build folder is carried.
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
  if(NOT CMAKE_INSTALL_RPATH)
    set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()

  if(TESSERA_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(TESSERA_CCACHE ccache)
    if(TESSERA_CCACHE)
      # Precompiled headers need the relaxed rules; paths relative to a folder above sources and builds let all builds
      # share the cache.
      cmake_path(GET PROJECT_SOURCE_DIR PARENT_PATH folder_above)
      set(CMAKE_CXX_COMPILER_LAUNCHER env
        "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
        "CCACHE_BASEDIR=${folder_above}" CCACHE_NOHASHDIR=1 "${TESSERA_CCACHE}")
    endif()
  endif()

  if(TESSERA_SANITIZE)
    add_compile_options("-fsanitize=${TESSERA_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options("-fsanitize=${TESSERA_SANITIZE}")
  endif()
endif()

set(TESSERA_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
set(TESSERA_GENERATED_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")

add_library(tessera_build_options INTERFACE)
target_compile_features(tessera_build_options INTERFACE cxx_std_20)
target_compile_options(tessera_build_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${TESSERA_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlapping copies in plain string concatenation (GCC bug 105651).
  target_compile_options(tessera_build_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # As GCC understands -Wconversion.
  target_compile_options(tessera_build_options INTERFACE -Wno-sign-conversion)
endif()
if(TESSERA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Instrumented code makes GCC see uses of uninitialised values that are none.
  target_compile_options(tessera_build_options INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
endif()
if(TESSERA_CHECKED_ACCESS)
  target_compile_definitions(tessera_build_options INTERFACE TESSERA_CHECKED_ACCESS)
endif()
target_include_directories(tessera_build_options INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${TESSERA_GENERATED_INCLUDE_DIR}" "${PROJECT_SOURCE_DIR}/src")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tessera_build_options INTERFACE -fpch-preprocess)
endif()
