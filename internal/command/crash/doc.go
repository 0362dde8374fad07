// Package crash is the verb minidump: the stacks of crash reports, one or thousands of them, and
// what else the reports say.
package crash
