package usage

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group are flags with a title.
type Group struct {
	Title string
	Flags []*pflag.Flag
}

// everyday are the flags that the users of a command need each day, by the command's path below the
// program.
var everyday = map[string]string{
	"attach":   "pid name merge goroutines consistent locals frame output json save",
	"core":     "exe sysroot last match merge goroutines locals frame output json",
	"open":     "exe sysroot merge goroutines locals frame output json",
	"minidump": "symbols exe sysroot info merge locals frame output json",
	"remote":   "exe sysroot merge locals frame call output json",
	"record":   "pid name container duration output frequency wall event system http",
	"top":      "pid name container every frequency wall event system",
	"perf":     "output format event http sysroot buildid-dir",
	"demo":     "merge locals explain output json",
}

// groups are the other flags, by what they are about. A flag that no row has is in the last group.
var groups = []struct{ title, flags string }{
	{"Processes and threads", "name children cgroup container all tid every count timeout consistent last match list since until coredump-dir microdump info"},
	{"What is shown", "merge tree goroutines tasks frame max-frames outer registers explain short full all-frames modules source source-dir no-lines color"},
	{"Values", "args locals print raw print-elements print-repeats print-depth"},
	{"Output", "output format json save max-saved max-size log"},
	{"Recording", "frequency event stack wall system duration http base"},
	{"Calls", "call call-timeout alone resume"},
	{"Bounds", "limit thread-limit max-unpacked"},
	{"Files and symbols", "input exe sysroot symbols debug-dir buildid-dir no-debuginfod no-symbol-index no-cache trust-paths"},
	{"How stacks are walked", "sniffers scan sframe-dir plugin plugin-sha256 no-plugins"},
}

// least is how many flags a command has that are shown by groups.
const least = 15

// Groups returns a command's own flags as its help shows them: in groups, or all in one without a
// title, if they are few or everyday has no row. Hidden and deprecated flags are left out.
func Groups(cmd *cobra.Command) (list []Group) {
	var all []*pflag.Flag
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" {
			all = append(all, f)
		}
	})
	if len(all) < least || everyday[path(cmd)] == "" {
		return []Group{{"", all}}
	}
	take := func(title string, names []string) {
		g := Group{Title: title}
		for _, name := range names {
			if i := slices.IndexFunc(all, func(f *pflag.Flag) bool { return f.Name == name }); i >= 0 {
				g.Flags = append(g.Flags, all[i])
				all = slices.Delete(all, i, i+1)
			}
		}
		if len(g.Flags) > 0 {
			list = append(list, g)
		}
	}
	take("Flags of every day", append(strings.Fields(everyday[path(cmd)]), "help"))
	for _, g := range groups {
		take(g.title, strings.Fields(g.flags))
	}
	if len(all) > 0 {
		list = append(list, Group{"Other flags", all})
	}
	return list
}

// path returns the path of a command below the program: "sframe dump".
func path(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}
