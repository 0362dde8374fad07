// Package rowtest is the harness of the tests of rows that are read from code: the oracle, which
// is readelf's reading of the compiler's own unwind tables, row by row, with objdump's
// instruction boundaries; and the tests and fuzz tests that are the same for each processor.
package rowtest
