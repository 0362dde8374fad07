// Package targets opens what the verbs print the stacks of: a live process, a core file, a saved
// snapshot, the target of a GDB remote stub. Each is a [report.Source].
package targets
