// Package wire has the messages between a guest and the machine that it runs on. The guest asks
// for operations by HTTP, and tells what came of each.
package wire

// An Op is something that the guest is to do.
type Op struct {
	ID   int
	Kind string // "put" and "get" a file, "run" a command
	Path string
	// For a command:
	Dir     string
	Env     []string // beside the guest's own
	Args    []string
	Seconds float64 // until it is killed
}

// A Done is the result of a command.
type Done struct {
	Output []byte
	Code   int    // -1 if it was killed
	Err    string // it could not be run at all
}

// A Tool is a program that the guest has run on the other machine: a compiler. Paths mean the
// same on both.
type Tool struct {
	Name, Dir string
	Env, Args []string
	Files     map[string][]byte // files that are named in Args, where the guest has made them
}

// A Made is the output of a Tool, and the file that it has made.
type Made struct {
	Stdout, Stderr []byte
	Code           int
	Output         []byte // what follows -o; nil if there is none
}
