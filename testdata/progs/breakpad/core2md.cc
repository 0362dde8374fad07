// Breakpad's core2md in one piece, which makes a minidump of a core file and of what was in the process's folder below
// /proc: -I leads to its sources, which are not here. It serves where Breakpad's client cannot trace the process that
// crashes: under emulation.

#define HAVE_GETCONTEXT 1 // the C library's

#include "client/linux/dump_writer_common/thread_info.cc"
#include "client/linux/dump_writer_common/ucontext_reader.cc"
#include "client/linux/log/log.cc"
#include "client/linux/minidump_writer/linux_core_dumper.cc"
#include "client/linux/minidump_writer/linux_dumper.cc"
#include "client/linux/minidump_writer/linux_ptrace_dumper.cc"
#include "client/linux/minidump_writer/minidump_writer.cc"
#include "client/linux/minidump_writer/pe_file.cc"
#include "client/minidump_file_writer.cc"
#include "common/convert_UTF.cc"
#include "common/linux/elf_core_dump.cc"
#include "common/linux/elfutils.cc"
#include "common/linux/file_id.cc"
#include "common/linux/guid_creator.cc"
#include "common/linux/linux_libc_support.cc"
#include "common/linux/memory_mapped_file.cc"
#include "common/linux/safe_readlink.cc"
#include "common/path_helper.cc"
#include "common/string_conversion.cc"
#include "tools/linux/core2md/core2md.cc"
