# A CMake toolchain: programs that barecpc boots.
#   cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/lib/cmake/barecpc/toolchain.cmake [-DBARECPC_ARCH=arm64|x86_64] ...
# C programs are of musl, C++ programs of glibc; both are static and have libcpc.  `ctest` and `add_custom_command` run
# them in the emulator.
if(NOT BARECPC_ARCH)
  set(BARECPC_ARCH "$ENV{BARECPC_ARCH}")
endif()
if(NOT BARECPC_ARCH)
  set(BARECPC_ARCH "${CMAKE_HOST_SYSTEM_PROCESSOR}")
endif()
if(BARECPC_ARCH MATCHES "^(arm64|aarch64)$")
  set(BARECPC_ARCH arm64)
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
elseif(BARECPC_ARCH MATCHES "^(x86_64|x86-64|amd64|AMD64)$")
  set(BARECPC_ARCH x86_64)
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
else()
  message(FATAL_ERROR "BARECPC_ARCH ${BARECPC_ARCH}: give arm64 or x86_64")
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BARECPC_ARCH)

set(CMAKE_SYSTEM_NAME Linux)
get_filename_component(BARECPC_BIN "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
set(CMAKE_C_COMPILER "${BARECPC_BIN}/barecpc-cc")
set(CMAKE_CXX_COMPILER "${BARECPC_BIN}/barecpc-c++")
set(CMAKE_C_COMPILER_ARG1 "--arch ${BARECPC_ARCH}")
set(CMAKE_CXX_COMPILER_ARG1 "--arch ${BARECPC_ARCH}")
set(CMAKE_CROSSCOMPILING_EMULATOR "${BARECPC_BIN}/barecpc;run;--arch;${BARECPC_ARCH};--payload")
