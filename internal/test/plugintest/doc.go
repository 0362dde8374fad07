// Package plugintest has plug-ins for tests: one that works well, and many that do not.
//
// They need not be built: a test binary is its own plug-in. Its TestMain calls [Main], and [Path]
// puts a copy of the binary where a host can start it. The copy's name says what the plug-in does,
// because a host does not pass its environment on.
package plugintest
