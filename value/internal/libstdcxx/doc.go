// Package libstdcxx shows the strings and containers of GCC's C++ library as its own printers for
// GDB do.
package libstdcxx
