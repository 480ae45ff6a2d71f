# Install rules: headers and libraries by component, the CMake package with one target file per component, pkg-config.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
set(package_build_dir "${PROJECT_BINARY_DIR}/package")
get_property(components GLOBAL PROPERTY TESSERA_COMPONENTS)
set(TESSERA_PACKAGE_SHARED ${BUILD_SHARED_LIBS})
set(TESSERA_PACKAGE_REQUIRES "")
# Relative, so that an install tree may be moved.
file(RELATIVE_PATH TESSERA_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")

file(GLOB core_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/tessera/*.hpp")
install(FILES ${core_headers}
  "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/version.hpp" "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/tessera.hpp"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tessera" COMPONENT core)

foreach(component IN LISTS components)
  get_property(headers GLOBAL PROPERTY TESSERA_${component}_HEADERS)
  get_property(requires GLOBAL PROPERTY TESSERA_${component}_REQUIRES)
  foreach(folder IN LISTS headers)
    if(EXISTS "${PROJECT_SOURCE_DIR}/include/tessera/${folder}")
      install(DIRECTORY "include/tessera/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tessera"
        COMPONENT ${component} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
    endif()
  endforeach()
  if(EXISTS "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/${component}.hpp")
    install(FILES "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/${component}.hpp"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tessera" COMPONENT ${component})
  endif()
  install(TARGETS tessera_${component} EXPORT tessera_${component}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${component})
  install(EXPORT tessera_${component} FILE tessera_${component}.cmake NAMESPACE tessera::
    DESTINATION "${package_dir}" COMPONENT ${component})

  string(APPEND TESSERA_PACKAGE_REQUIRES "set(_tessera_requires_${component} ${requires})\n")

  # pkg-config
  set(TESSERA_PC_NAME tessera-${component})
  set(TESSERA_PC_REQUIRES "${requires}")
  list(TRANSFORM TESSERA_PC_REQUIRES REPLACE "^(.+)$" "tessera-\\1 = ${PROJECT_VERSION}")
  set(TESSERA_PC_PRIVATE "")
  if(component STREQUAL "core")
    set(TESSERA_PC_PRIVATE vulkan)
  elseif(component STREQUAL "io")
    set(TESSERA_PC_PRIVATE gdal)
  elseif(component STREQUAL "interop")
    list(APPEND TESSERA_PC_REQUIRES vulkan)
  endif()
  list(JOIN TESSERA_PC_REQUIRES ", " TESSERA_PC_REQUIRES)
  set(TESSERA_PC_LIBS "-L\${libdir} -ltessera_${component}")
  if(component STREQUAL "interop")
    set(TESSERA_PC_LIBS "")
  endif()
  set(TESSERA_PC_CFLAGS "")
  set(TESSERA_PC_LIBS_PRIVATE "")
  if(NOT BUILD_SHARED_LIBS)
    set(TESSERA_PC_CFLAGS "-DTESSERA_STATIC")
    set(TESSERA_PC_LIBS_PRIVATE "-pthread -lstdc++")
  endif()
  configure_file(cmake/tessera.pc.in "${package_build_dir}/tessera-${component}.pc" @ONLY)
  install(FILES "${package_build_dir}/tessera-${component}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${component})
endforeach()

configure_package_config_file(cmake/tesseraConfig.cmake.in "${package_build_dir}/tesseraConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${package_build_dir}/tesseraConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${package_build_dir}/tesseraConfig.cmake" "${package_build_dir}/tesseraConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT core)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT core)
