// Breakpad's client for Linux, in one piece: -I leads to its sources, which are not here.
//
// write_dump_to has a crash of this process written to a file as a minidump.

#define HAVE_GETCONTEXT 1 // the C library's

#include "client/linux/crash_generation/crash_generation_client.cc"
#include "client/linux/dump_writer_common/thread_info.cc"
#include "client/linux/dump_writer_common/ucontext_reader.cc"
#include "client/linux/handler/exception_handler.cc"
#include "client/linux/handler/minidump_descriptor.cc"
#include "client/linux/log/log.cc"
#include "client/linux/microdump_writer/microdump_writer.cc"
#include "client/linux/minidump_writer/linux_dumper.cc"
#include "client/linux/minidump_writer/linux_ptrace_dumper.cc"
#include "client/linux/minidump_writer/minidump_writer.cc"
#include "client/linux/minidump_writer/pe_file.cc"
#include "client/minidump_file_writer.cc"
#include "common/convert_UTF.cc"
#include "common/linux/elfutils.cc"
#include "common/linux/file_id.cc"
#include "common/linux/guid_creator.cc"
#include "common/linux/linux_libc_support.cc"
#include "common/linux/memory_mapped_file.cc"
#include "common/linux/safe_readlink.cc"
#include "common/string_conversion.cc"

extern "C" void write_dump_to(const char *path) {
  int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    _exit(2);
  google_breakpad::MinidumpDescriptor descriptor(fd);
  new google_breakpad::ExceptionHandler(descriptor, nullptr, nullptr, nullptr, true, -1);
}
