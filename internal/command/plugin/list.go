package plugin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/plugindir"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// pluginList is what `sfwalk plugin list --json` prints; docs/json.md describes it.
// Fields are added, never renamed.
type pluginList struct {
	Directories []string     `json:"directories"`
	Plugins     []pluginItem `json:"plugins"`
	Order       []string     `json:"order"`
	LeftOut     []string     `json:"left_out"`
}

// pluginItem is one plug-in that has been started.
type pluginItem struct {
	Name          string   `json:"name"`
	Version       string   `json:"version"`
	Protocol      int      `json:"protocol"`
	Architectures []string `json:"architectures"`
	Before        string   `json:"before"`
	Path          string   `json:"path"`
	SHA256        string   `json:"sha256"`
	Pinned        bool     `json:"pinned"`
	StartUS       int64    `json:"start_us"`
	Decorates     string   `json:"decorates,omitempty"`
	unwinds       bool
}

func newPluginItem(program hosts.Program, p hosts.Plugin) pluginItem {
	a := p.About()
	sum, err := p.SHA256()
	if err != nil {
		sum = "" // a program may be executable but not readable
	}
	return pluginItem{
		Name: a.Name, Version: a.Version, Protocol: a.Protocol, Architectures: a.ArchitectureNames(), Before: a.AskedBefore(),
		Path: program.Path, SHA256: sum, Pinned: program.SHA256 != "", StartUS: a.Started.Microseconds(),
		Decorates: a.Decorates, unwinds: a.Unwinds,
	}
}

// does says what a plug-in is asked.
func (p *pluginItem) does() string {
	var list []string
	if p.unwinds {
		list = append(list, "asked before "+p.Before)
	}
	if p.Decorates != "" {
		list = append(list, "decorates "+p.Decorates)
	}
	return strings.Join(list, "; ")
}

func newPluginList(host hosts.Plugins) *cobra.Command {
	var flags sniffers.PluginFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List which plug-ins are asked, and which are left out",
		Long: `list starts the plug-ins that 'sfwalk attach' would ask with the same flags. It
prints how each describes itself, then the order in which all sniffers are asked, then the
plug-ins that are left out, and why. sniffer-perfmap beside sfwalk is not among them: 'sfwalk attach'
asks it about a process that has code for it.

Exit codes: 0 printed; 1 error; 2 usage.`,
		Example: `  sfwalk plugin list
  sfwalk plugin list --plugin ./sniffer-mine
  sfwalk plugin list --json | jq '.plugins[].path'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.Check(); err != nil {
				return err
			}
			table := sniffers.Choice{PluginFlags: flags}
			if err := table.Begin(cmd); err != nil {
				return err
			}
			defer table.End()
			list := listPlugins(&table)
			if cmd.Context().Err() != nil {
				return exit.ErrInterrupted
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			var err error
			if asJSON {
				err = json.NewEncoder(out).Encode(list)
			} else {
				list.print(out)
			}
			return errors.Join(err, out.Flush())
		},
	}
	flags.Add(cmd, host)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (see docs/json.md)")
	return cmd
}

func listPlugins(flags *sniffers.Choice) *pluginList {
	list := &pluginList{Directories: flags.PluginFlags.Dirs(), Plugins: []pluginItem{}, LeftOut: flags.Plugins.Warnings()}
	if list.Directories == nil {
		list.Directories = []string{}
	}
	if list.LeftOut == nil {
		list.LeftOut = []string{}
	}
	for _, s := range flags.Table(nil, false, flags.Plugins.Of(hosts.Process{})).Sniffers() {
		list.Order = append(list.Order, s.Name())
	}
	if flags.Plugins != nil {
		for _, x := range flags.Plugins.Usable {
			list.Plugins = append(list.Plugins, newPluginItem(x.Program, x.Plugin))
		}
	}
	return list
}

func (l *pluginList) print(w io.Writer) {
	for _, p := range l.Plugins {
		pinned := "not pinned"
		if p.Pinned {
			pinned = "pinned"
		}
		printable.Fprintf(w, "%s %s\n", p.Name, p.Version)
		indented(w, "    ", p.Path,
			fmt.Sprintf("sha256 %s, %s", p.SHA256, pinned),
			fmt.Sprintf("protocol %d; architectures: %s; %s", p.Protocol, strings.Join(p.Architectures, ", "), p.does()))
	}
	if len(l.Plugins) == 0 {
		printable.Fprintf(w, "no plug-ins named %s* or %s* in %s\n", plugindir.Prefix, plugindir.Decorator, strings.Join(l.Directories, ", "))
	}
	printable.Fprintf(w, "\norder: %s\n", strings.Join(l.Order, ", "))
	if len(l.LeftOut) > 0 {
		printable.Fprintf(w, "\nleft out:\n")
		indented(w, "    ", l.LeftOut...)
	}
}
