// Package java tells what a Java virtual machine of the HotSpot family, of the releases 8 to 28,
// knows of its threads: the frames of Java, names, states and locks.
//
// The virtual machine tells debuggers of its structures, and [vmstructs] reads what it tells.
//
// The interpreter keeps the method and the bytecode in its frame. The compilers note for each call
// which methods' frames the one frame of the machine stands for. The line comes from the table of
// lines behind a method's bytecodes.
//
// The class file's table says which variables are in which slots of a frame, and the compilers note
// where they have kept them.
//
// A thread is known by its stack. Its java.lang.Thread has its name and what it does, in the heap,
// where fields are at places that differ from release to release: the classes say where. Monitors
// and java.util.concurrent's locks lead to the threads that hold them.
//
// Nothing is believed: an object is one if its class has a name, and a field is read if the class
// is the one that is expected. A pointer is a method's only if all that leads from it to names is
// sound, and a place among the bytecodes must be within them.
//
// [vmstructs]: https://pkg.go.dev/github.com/sfwalk/sfwalk/internal/vmstructs
package java
