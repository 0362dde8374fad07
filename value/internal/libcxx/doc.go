// Package libcxx shows the strings and containers of LLVM's C++ library.
package libcxx
