package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
)

// meaning is what a command line without a verb means.
type meaning struct {
	args []string // with the verb
	note string   // what the user should know of the choice; "" for nothing
	err  error    // why there is no meaning
}

// meant returns args with the verb that they mean, if they begin with none: 'sfwalk 4242' is
// 'sfwalk attach 4242', and 'sfwalk FILE' has the verb that reads such a file. all makes the
// commands, to find out which words are the values of flags.
func meant(args []string, all func() *cobra.Command) meaning {
	same := meaning{args: args}
	if len(args) == 0 || isVerb(args[0]) {
		return same
	}
	at := 0
	if strings.HasPrefix(args[0], "-") && args[0] != "-" {
		switch {
		case slices.Contains([]string{"-h", "--help", "-v", "--version"}, args[0]):
			return same
		case slices.ContainsFunc(args, isPID):
			return meaning{args: append([]string{"attach"}, args...)}
		}
		if at = firstArgument(all(), args); at == len(args) {
			return same // flags alone: cobra says what is wrong with them
		}
	}
	if word := args[at]; isVerb(word) { // as in 'sfwalk --json attach 4242'
		return meaning{args: slices.Concat([]string{word}, args[:at], args[at+1:])}
	}
	m := chosen(args[at], args[at+1:])
	switch {
	case m.err != nil:
	case len(m.args) == 0:
		m.args = args[at : at+1] // that there is no such command is all that must be said
	default:
		m.args = append(m.args, args...)
	}
	return m
}

// isPID reports whether a word is the flag -p.
func isPID(word string) bool {
	return word == "-p" || word == "--pid" || strings.HasPrefix(word, "--pid=") || len(word) > 2 && strings.HasPrefix(word, "-p") && strings.Trim(word[2:], "0123456789,") == ""
}

// firstArgument returns the index of the first word that is neither a flag nor the value of one, of
// any verb; len(args) if there is none.
func firstArgument(root *cobra.Command, args []string) int {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if len(word) < 2 || word[0] != '-' {
			return i
		}
		if word == "--" {
			return min(i+1, len(args))
		}
		name, long := strings.CutPrefix(word, "--")
		name, _, given := strings.Cut(name, "=")
		for _, verb := range root.Commands() {
			f := verb.Flags().Lookup(name)
			if !long {
				f, given = verb.Flags().ShorthandLookup(word[1:2]), len(word) > 2
			}
			if f == nil {
				continue
			}
			if !given && f.NoOptDefVal == "" {
				i++ // its value
			}
			break
		}
	}
	return len(args)
}

// address matches where a stub may be: HOST:PORT.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])?:[0-9]{1,5}$`)
})

// chosen returns the verb that a word means in place of one, or why none is meant. rest are the
// words behind it. A process is preferred to a file with its number as a name.
func chosen(word string, rest []string) (m meaning) {
	info, noFile := os.Stat(word)
	isNumber := word != "" && strings.Trim(word, "0123456789") == ""
	switch {
	case isNumber && (isProcess(word) || noFile != nil):
		m.args = []string{"attach"}
		if noFile == nil {
			m.note = fmt.Sprintf("%s is a process: ./%[1]s is the file", word)
		}
		return m
	case word == "-":
		m.err = errors.New("-: which command? core reads a core file from standard input, perf what perf record -o - writes, minidump a list of paths")
		return m
	case noFile != nil && (strings.HasPrefix(word, "unix:") || address().MatchString(word)):
		m.args = []string{"remote"}
		return m
	case errors.Is(noFile, fs.ErrNotExist) && strings.ContainsAny(word, "/."):
		m.err = fmt.Errorf("there is no command and no file %q", word)
		return m
	case errors.Is(noFile, fs.ErrNotExist):
		m.err = notCommand(word)
		return m
	case noFile != nil:
		m.err = noFile
		return m
	case info.Mode()&fs.ModeNamedPipe != 0:
		m.err = fmt.Errorf("%s: a pipe, which can be read once: name the command that reads it, core or perf", word)
		return m
	}
	k, ok := kinds.Of(word)
	switch {
	case ok && k.Verb == "remote":
		m.args, m.err = nil, fmt.Errorf("%s: it is %s", word, k.Says(word))
	case ok && k.Verb != "":
		m.args = []string{k.Verb}
	case ok && len(rest) > 0 && isCore(rest[0]): // the program stands before its core, as for gdb
		m.args = []string{"core"}
	case ok:
		m.err = fmt.Errorf("%s: it is %s", word, k.Says(word))
	case info.IsDir():
		m.err = fmt.Errorf("%s: there is no such command, and no minidumps are in the folder of this name", word)
	default:
		if f, err := os.Open(word); err != nil {
			m.err = err
		} else {
			f.Close()
			m.err = fmt.Errorf("%s: there is no such command, and the file of this name is none that sfwalk reads: no core file, minidump, snapshot or recording of perf", word)
		}
	}
	return m
}

// isCore reports whether a path is of a core file or a snapshot.
func isCore(path string) bool {
	k, ok := kinds.Of(path)
	return ok && (k.Verb == "core" || k.Verb == "open")
}

// isProcess reports whether there is such a process.
func isProcess(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err == nil
}

// notCommand is the error of a first word that is no command, nor anything else.
func notCommand(word string) error {
	if pids := cmdline.Named(word); len(pids) > 0 {
		var list []string
		for _, pid := range pids[:min(len(pids), 8)] {
			list = append(list, strconv.Itoa(pid))
		}
		return fmt.Errorf("there is no command %q: 'sfwalk attach --name %s' prints the stacks of the processes called so: %s", word, word, strings.Join(list, ", "))
	}
	return nil // as cobra has it, with what is alike
}
