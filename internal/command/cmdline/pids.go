package cmdline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
)

// PIDs are what -p, --pid gives, as gdb, eu-stack, perf, py-spy and strace take it. Each PID counts
// as an argument.
type PIDs []string

// Add adds the flag. A command that is about one process takes one PID; Before checks that.
func (p *PIDs) Add(cmd *cobra.Command, usage string) {
	cmd.Flags().VarP(p, "pid", "p", usage)
	cmd.RegisterFlagCompletionFunc("pid", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return CompleteProcess(cmd, nil, begun)
	})
}

// Set implements pflag.Value. Several PIDs may stand in one argument, as strace has them: with
// commas, or as pidof prints them.
func (p *PIDs) Set(text string) error {
	list := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	if len(list) == 0 {
		return errors.New("want the number of a process")
	}
	*p = append(*p, list...)
	return nil
}

// String implements pflag.Value.
func (p *PIDs) String() string { return strings.Join(*p, ",") }

// Type implements pflag.Value.
func (p *PIDs) Type() string { return "PID" }

// Before returns the PIDs and then the other arguments.
func (p *PIDs) Before(args []string) []string { return slices.Concat(*p, args) }

// One makes check, of a command whose first argument is a PID, count what -p gives.
func (p *PIDs) One(check cobra.PositionalArgs) cobra.PositionalArgs {
	return p.only(func(cmd *cobra.Command, args []string) error { return check(cmd, p.Before(args)) })
}

// Last is One for a command whose last argument is a PID.
func (p *PIDs) Last(check cobra.PositionalArgs) cobra.PositionalArgs {
	return p.only(func(cmd *cobra.Command, args []string) error { return check(cmd, append(args, *p...)) })
}

func (p *PIDs) only(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(*p) > 1 {
			return exit.Misuse(fmt.Errorf("--pid %s: want one process", p))
		}
		return check(cmd, args)
	}
}

// Process parses a PID that the verb cmd was given. Where text is something else, the error says
// what it may be meant for.
func Process(cmd *cobra.Command, text string) (int, error) {
	pid, err := ProcessID(text)
	var usage exit.Usage
	if err == nil {
		return pid, nil
	}
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if !errors.As(err, &usage) {
		return 0, fmt.Errorf("%s %w", verb, err)
	}
	if is := meant(cmd, text); is != "" {
		return 0, exit.Misuse(fmt.Errorf("%s %s: want the number of a process: %s", verb, text, is))
	}
	return 0, exit.Misuse(fmt.Errorf("%s %w", verb, err))
}

// meant says what text may be that stands in place of a PID: the name of processes, or a file. It
// returns "" for what is nothing.
func meant(cmd *cobra.Command, text string) string {
	pids := Named(text)
	if len(pids) == 0 {
		if k, ok := kinds.Of(text); ok {
			return text + " is " + k.Says(text)
		}
		return ""
	}
	const most = 8
	var list []string
	for _, pid := range pids[:min(most, len(pids))] {
		list = append(list, strconv.Itoa(pid))
	}
	if more := len(pids) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	numbers := strings.Join(list, ", ")
	switch {
	case cmd.Flags().Lookup("name") != nil:
		return fmt.Sprintf("--name %s finds %s", text, numbers)
	case len(pids) == 1:
		return fmt.Sprintf("%s is %s", text, numbers)
	}
	return fmt.Sprintf("those called %s are %s", text, numbers)
}

// commLength is the most bytes of a process's name that the kernel keeps (TASK_COMM_LEN, without
// the zero).
const commLength = 15

// Called reports whether the process pid, whose name in /proc is comm, has the name that the user
// says. The kernel keeps the first 15 bytes of a name: then the program's file, or its first
// argument, must have the whole one.
func Called(pid int, comm, name string) bool {
	if len(name) <= commLength || len(comm) != commLength || !strings.HasPrefix(name, comm) {
		return comm == name
	}
	dir := "/proc/" + strconv.Itoa(pid)
	if exe, err := os.Readlink(dir + "/exe"); err == nil && filepath.Base(strings.TrimSuffix(exe, " (deleted)")) == name {
		return true
	}
	line, _ := os.ReadFile(dir + "/cmdline")
	first, _, _ := strings.Cut(string(line), "\x00")
	return filepath.Base(first) == name
}

// Named returns the processes of this name, as --name finds them, ascending.
func Named(name string) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, file := range files {
		comm, err := os.ReadFile(file)
		pid, wrong := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && wrong == nil && pid != os.Getpid() && Called(pid, strings.TrimSuffix(string(comm), "\n"), name) {
			list = append(list, pid)
		}
	}
	slices.Sort(list)
	return list
}
