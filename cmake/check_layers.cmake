cmake_minimum_required(VERSION 3.25)

# Fails when a layer includes a header of a layer above it.
set(layers device graph operand ops raster residency io)

# Layers whose headers each layer may include, itself included.
set(allowed_device device)
set(allowed_graph device graph operand)
set(allowed_operand device graph operand)
set(allowed_ops device graph operand ops)
set(allowed_raster device graph operand ops raster)
set(allowed_residency device graph operand ops raster residency)
set(allowed_io ${layers})

set(faults "")
foreach(layer IN LISTS layers)
  file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}"
    "${SOURCE_DIR}/src/${layer}/*.cpp" "${SOURCE_DIR}/src/${layer}/*.hpp" "${SOURCE_DIR}/include/tessera/${layer}/*.hpp")
  foreach(file IN LISTS files)
    file(STRINGS "${SOURCE_DIR}/${file}" lines REGEX "^#include [<\"](tessera/)?[a-z]+/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include [<\"](tessera/)?([a-z]+)/.*$" "\\2" included "${line}")
      if(included IN_LIST layers AND NOT included IN_LIST allowed_${layer})
        string(APPEND faults "  ${file}: ${line}\n")
      elseif(included STREQUAL "reference")
        string(APPEND faults "  ${file}: ${line}\n")
      endif()
    endforeach()
  endforeach()
endforeach()
if(faults)
  message(FATAL_ERROR "Includes that point up:\n${faults}")
endif()
