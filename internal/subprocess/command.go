package subprocess

import "os"

// Command is what a [Keeper] runs.
type Command struct {
	Path  string
	Args  []string // the first is the program's name
	Env   []string
	Dir   string
	Files [3]*os.File // standard input, output and error
	// File is the program to run in place of the file at Path; it may be nil. The command has it as
	// descriptor 3. Only Linux uses it.
	File *os.File
}

// Ended says how a command has ended.
type Ended struct {
	How     string // "exit status 1"
	Success bool
}
