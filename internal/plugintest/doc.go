// Package plugintest is plug-ins for tests: one that does its work well, and many that do
// not.
//
// They need not be built: a test binary is its own plug-in. Its TestMain calls [Main], and
// [Path] puts a copy of the binary, whose name says what it is to do, where a host can start
// it. (A host does not let its environment through.)
package plugintest
