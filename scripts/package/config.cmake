# find_package(barecpc): the imported library barecpc::cpc, for static programs of glibc, and BARECPC_COMMAND.
# With the toolchain file next to this one the compiler adds libcpc, and barecpc::cpc adds nothing.
get_filename_component(_home "${CMAKE_CURRENT_LIST_DIR}/../../barecpc" ABSOLUTE)
get_filename_component(BARECPC_COMMAND "${CMAKE_CURRENT_LIST_DIR}/../../../bin/barecpc" ABSOLUTE)
if(NOT TARGET barecpc::cpc)
  add_library(barecpc::cpc INTERFACE IMPORTED)
  if(NOT CMAKE_C_COMPILER MATCHES "barecpc-cc$")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm64|aarch64)$")
      set(_arch arm64)
    else()
      set(_arch x86_64)
    endif()
    set_target_properties(barecpc::cpc PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_home}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_home}/include"
      INTERFACE_LINK_LIBRARIES "${_home}/build/${_arch}/glibc/libcpc.a"
      INTERFACE_LINK_OPTIONS "-static")
  endif()
endif()
unset(_home)
unset(_arch)
