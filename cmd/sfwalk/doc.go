// Command sfwalk prints the stacks of a process: every thread's, right and
// fast, with the process stopped for a moment only.
package main
