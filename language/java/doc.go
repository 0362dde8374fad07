// Package java tells what a Java virtual machine of the HotSpot family, of the releases 8 to 28,
// knows of its threads.
//
// The virtual machine tells debuggers of its structures, and [vmstructs] reads what it tells. A
// thread is known by its stack. Its java.lang.Thread has its name and what it does, in the heap,
// where fields are at places that differ from release to release: the classes say where. Monitors
// and java.util.concurrent's locks lead to the threads that hold them.
//
// Nothing is believed: an object is one if its class has a name, and a field is read if the class
// is the one that is expected.
//
// [vmstructs]: https://pkg.go.dev/github.com/sfwalk/sfwalk/internal/vmstructs
package java
