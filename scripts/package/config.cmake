# find_package(barecpc): BARECPC_COMMAND, and the imported libraries barecpc::cpc (libcpc) and barecpc::payload (<bench.h>,
# <region.h>), for static programs of glibc.
# With the toolchain file next to this one the compiler adds libcpc, and barecpc::cpc adds nothing.
get_filename_component(_home "${CMAKE_CURRENT_LIST_DIR}/../../barecpc" ABSOLUTE)
get_filename_component(BARECPC_COMMAND "${CMAKE_CURRENT_LIST_DIR}/../../../bin/barecpc" ABSOLUTE)
if(NOT TARGET barecpc::cpc)
  add_library(barecpc::cpc INTERFACE IMPORTED)
  add_library(barecpc::payload INTERFACE IMPORTED)
  if("${CMAKE_C_COMPILER};${CMAKE_CXX_COMPILER}" MATCHES "barecpc-c(c|\\+\\+)(;|$)")
    set_target_properties(barecpc::payload PROPERTIES INTERFACE_LINK_LIBRARIES "-lpayload")
  else()
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm64|aarch64)$")
      set(_libs "${_home}/build/arm64/glibc")
    else()
      set(_libs "${_home}/build/x86_64/glibc")
    endif()
    set_target_properties(barecpc::cpc PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_home}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_home}/include"
      INTERFACE_LINK_LIBRARIES "${_libs}/libcpc.a"
      INTERFACE_LINK_OPTIONS "-static")
    set_target_properties(barecpc::payload PROPERTIES
      INTERFACE_LINK_LIBRARIES "${_libs}/libpayload.a;barecpc::cpc;m")
  endif()
endif()
unset(_home)
unset(_libs)
