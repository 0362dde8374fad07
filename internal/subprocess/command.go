package subprocess

import "os"

// Command is what a [Keeper] runs.
type Command struct {
	Path  string
	Args  []string // the first is the program's name
	Env   []string
	Dir   string
	Files [3]*os.File // standard input, output and error
	// File is the program, instead of the file at Path; nil for that. The program has it as its
	// descriptor 3. Linux alone.
	File *os.File
}

// Ended is how a command has ended.
type Ended struct {
	How     string // "exit status 1"
	Success bool
}
