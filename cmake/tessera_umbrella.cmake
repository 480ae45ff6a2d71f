# Umbrella headers, generated from what is in the header folders.

# tessera_add_umbrella(<header> [GENERATED <header>...] PATTERNS <header pattern below include/tessera>...)
function(tessera_add_umbrella header)
  set(base "${PROJECT_SOURCE_DIR}/include")
  cmake_parse_arguments(PARSE_ARGV 1 UMBRELLA "" "" "GENERATED;PATTERNS")
  set(includes ${UMBRELLA_GENERATED})
  list(TRANSFORM includes PREPEND "tessera/")
  foreach(pattern IN LISTS UMBRELLA_PATTERNS)
    file(GLOB found RELATIVE "${base}" CONFIGURE_DEPENDS "${base}/tessera/${pattern}")
    list(SORT found)
    list(APPEND includes ${found})
  endforeach()
  list(TRANSFORM includes REPLACE "^(.+)$" "#include <\\1>\n")
  string(JOIN "" lines ${includes})
  file(CONFIGURE OUTPUT "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/${header}"
    CONTENT "#pragma once\n\n// Generated: everything of this component.\n\n${lines}" @ONLY)
endfunction()
