# Kernels: GLSL beside the host code, compiled to SPIR-V when the project is built and embedded in its library.

# tessera_embed_kernels(<result> REGISTER <name> FOLDERS <folder>...)
# Compiles every *.comp, *.vert and *.frag below the folders and sets <result> to one generated source that embeds the modules and defines
# tessera::detail::<name>_modules() and, the core apart, tessera::detail::register_<name>_modules().
#
# A kernel is compiled once into the module <stem>. A line `// variants: uint32 sint32 float32` compiles it once per word
# instead, with VARIANT_<word> and COMPUTE_TYPE defined, into <stem>.<word>.
function(tessera_embed_kernels result)
  cmake_parse_arguments(PARSE_ARGV 1 EMBED "" "REGISTER" "FOLDERS")
  set(folders ${EMBED_FOLDERS})
  list(TRANSFORM folders REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  set(patterns "")
  foreach(stage comp vert frag)
    list(TRANSFORM folders APPEND "/*.${stage}" OUTPUT_VARIABLE of_stage)
    list(APPEND patterns ${of_stage})
  endforeach()
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${patterns})

  set(optimization ${TESSERA_KERNEL_OPTIMIZATION})
  if(TESSERA_CHECKED_ACCESS)
    # Each check is a function; inlining them all makes modules six times as large, and drivers do it anyway.
    set(optimization "-O0")
  endif()
  set(modules "")
  set(binaries "")
  set(TESSERA_KERNEL_FOLDER "${TESSERA_GENERATED_DIR}/kernels/${EMBED_REGISTER}")
  foreach(kernel IN LISTS kernels)
    tessera_kernel_builds(builds "${kernel}")
    foreach(build IN LISTS builds)
      string(REPLACE "|" ";" build "${build}")
      list(POP_FRONT build module)
      if(module IN_LIST modules)
        message(FATAL_ERROR "Two kernels are called ${module}; the second is ${kernel}")
      endif()
      tessera_compile_kernel("${kernel}" ${module} ${optimization} ${build})
    endforeach()
  endforeach()
  tessera_write_embedding(source ${EMBED_REGISTER} ${modules})
  set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${binaries}")
  set(${result} "${source}" PARENT_SCOPE)
endfunction()

# The builds of one kernel, each `module|define|...`.
function(tessera_kernel_builds result kernel)
  set(compute_type_uint32 uint)
  set(compute_type_sint32 int)
  set(compute_type_float32 float)
  set(compute_type_uint64 uint64_t)
  set(compute_type_sint64 int64_t)
  set(compute_type_float64 double)

  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${kernel}")
  cmake_path(GET kernel STEM LAST_ONLY stem)
  file(STRINGS "${kernel}" lines REGEX "^// *variants:")
  if(NOT lines)
    set(${result} "${stem}" PARENT_SCOPE)
    return()
  endif()
  list(GET lines 0 line)
  string(REGEX REPLACE "^// *variants: *" "" line "${line}")
  string(REGEX MATCHALL "[A-Za-z0-9_]+" words "${line}")
  set(builds "")
  foreach(word IN LISTS words)
    set(build "${stem}.${word}|-DVARIANT_${word}=1")
    if(DEFINED compute_type_${word})
      string(APPEND build "|-DCOMPUTE_TYPE=${compute_type_${word}}")
    endif()
    list(APPEND builds "${build}")
  endforeach()
  set(${result} "${builds}" PARENT_SCOPE)
endfunction()

# Adds the command that compiles one module; appends to `modules` and `binaries` of the caller.
macro(tessera_compile_kernel kernel module)
  set(binary "${TESSERA_KERNEL_FOLDER}/${module}.spv")
  add_custom_command(
    OUTPUT "${binary}"
    COMMAND Vulkan::glslc --target-env=vulkan1.3 ${ARGN} $<$<BOOL:${TESSERA_CHECKED_ACCESS}>:-DTESSERA_CHECKED_ACCESS>
      -I "${PROJECT_SOURCE_DIR}/src/glsl" -I "${PROJECT_SOURCE_DIR}/include" -I "${PROJECT_SOURCE_DIR}/src"
      -MD -MF "${binary}.d" -o "${binary}" "${kernel}"
    DEPENDS "${kernel}"
    DEPFILE "${binary}.d"
    COMMENT "Compiling kernel ${module}"
    COMMAND_EXPAND_LISTS VERBATIM)
  list(APPEND modules ${module})
  list(APPEND binaries "${binary}")
endmacro()

# One source for all modules: the assembler includes the binaries, which costs no compile time.
function(tessera_write_embedding result name)
  set(blobs "")
  set(entries "")
  set(index 0)
  foreach(module IN LISTS ARGN)
    set(symbol "tessera_${name}_module_${index}")
    string(APPEND blobs "EMBED(${symbol}, \"${TESSERA_KERNEL_FOLDER}/${module}.spv\")\n")
    string(APPEND entries "      entry(\"${module}\", ${symbol}, ${symbol}_end),\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(TESSERA_EMBED_NAME ${name})
  set(TESSERA_EMBED_COUNT ${index})
  set(TESSERA_EMBED_BLOBS "${blobs}")
  set(TESSERA_EMBED_ENTRIES "${entries}")
  set(TESSERA_EMBED_REGISTER "")
  if(NOT name STREQUAL "core")
    set(TESSERA_EMBED_REGISTER "
void register_${name}_modules();
void register_${name}_modules() {
  static std::once_flag once;
  std::call_once(once, [] { register_modules(${name}_modules()); });
}
")
  endif()
  set(source "${TESSERA_GENERATED_DIR}/kernels/${name}_kernels.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_kernels.cpp.in" "${source}" @ONLY)
  set(${result} "${source}" PARENT_SCOPE)
endfunction()
