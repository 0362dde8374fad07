// Package debugfiles has the flags that say where debug files are, and fetches the files that are
// lacking from the servers of DEBUGINFOD_URLS.
package debugfiles
