package stacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/coredumps"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// stored are the flags that choose among the cores that systemd-coredump keeps.
type stored struct {
	last, list   bool
	matches      []string
	since, until string
	folder       string
}

func (s *stored) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.last, "last", false, "open the newest core that systemd-coredump keeps; arguments choose among them: see --match")
	cmdline.List(f, &s.matches, "match", "open the core that systemd-coredump keeps of this process, as coredumpctl finds it: a PID, a program's name or its path, or FIELD=VALUE (COREDUMP_UID=1000)")
	f.BoolVar(&s.list, "list", false, "list the cores that systemd-coredump keeps, as coredumpctl list does; arguments choose among them: see --match")
	f.StringVar(&s.since, "since", "", "with --last, --match and --list: only cores since this time, for example '2026-11-28 14:00', yesterday or -2h")
	f.StringVar(&s.until, "until", "", "likewise: only cores up to this time")
	f.StringVar(&s.folder, "coredump-dir", coredumps.Store, "the folder where systemd-coredump keeps its files, for example of a mounted disk")
}

// asked reports whether the flags ask for a stored core.
func (s *stored) asked() bool { return s.last || s.list || len(s.matches) > 0 }

// check finds mistakes in the flags.
func (s *stored) check(cmd *cobra.Command, args []string) error {
	switch {
	case s.last && s.list:
		return exit.Misuse(errors.New("--list lists cores, --last opens one: give one of the two"))
	case !s.asked() && (s.since != "" || s.until != "" || cmd.Flags().Changed("coredump-dir")):
		return exit.Misuse(errors.New("--since, --until and --coredump-dir are for --last, --match and --list"))
	case !s.asked() && len(args) == 0:
		if here := coresHere(); here != "" {
			return exit.Misuse(fmt.Errorf("which core? Give its file: %s", here))
		}
		return exit.Misuse(errors.New("which core? Give its file, or --last for the newest that systemd-coredump keeps"))
	case s.asked() && !s.last && !s.list && len(args) > 0:
		return exit.Misuse(fmt.Errorf("%q: one core at a time", args[len(args)-1]))
	}
	return nil
}

// choose returns the file of the core that the flags and arguments choose, or "" if they ask for a
// list, which it prints.
func (s *stored) choose(cmd *cobra.Command, args []string) (path string, err error) {
	matches, err := coredumps.NewMatches(append(args, s.matches...))
	if err != nil {
		return "", exit.Misuse(fmt.Errorf("--match %w", err))
	}
	now := time.Now()
	since, err := moment(s.since, now, time.Time{})
	if err != nil {
		return "", exit.Misuse(fmt.Errorf("--since %w", err))
	}
	until, err := moment(s.until, now, time.Unix(1<<40, 0))
	if err != nil {
		return "", exit.Misuse(fmt.Errorf("--until %w", err))
	}
	all, err := coredumps.List(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no such folder: systemd-coredump keeps no cores here%s", s.folder, s.pattern())
	}
	if err != nil {
		return "", err
	}
	var found []coredumps.Core
	for _, c := range all {
		if matches.Match(&c) && !c.Time.Before(since) && !c.Time.After(until) {
			found = append(found, c)
		}
	}
	asJSON, err := cmd.Flags().GetBool("json")
	switch {
	case err != nil:
		return "", err
	case s.list && asJSON:
		return "", listJSON(cmd.OutOrStdout(), found)
	case len(all) == 0:
		return "", fmt.Errorf("%s: there are no cores%s", s.folder, s.pattern())
	case len(found) == 0:
		return "", fmt.Errorf("%s: no core of %d matches. A core that was removed is in the journal alone: coredumpctl list", s.folder, len(all))
	case s.list:
		return "", listText(cmd.OutOrStdout(), found)
	case len(found) > 1 && !s.last:
		const most = 20
		if err := listText(cmd.ErrOrStderr(), found[max(0, len(found)-most):]); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%d cores match: choose by more of --match, for example a PID, or take the newest by --last", len(found))
	}
	newer := 0 // than the newest that this user may read
	for newer < len(found) && !found[len(found)-1-newer].Readable {
		newer++
	}
	if newer == len(found) {
		newer = 0
	}
	c := &found[len(found)-1-newer]
	if !c.Readable {
		return "", fmt.Errorf("%s: only root and user %d may read it, and not that user where the program had other rights", c.Path, c.UID)
	}
	if newer > 0 {
		cmdline.Warn(cmd, fmt.Sprintf("%s that you may not read %s left out: run as root", count.Of(newer, "newer core"), count.Verb(newer, "is", "are")))
	}
	printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: the core of %s (PID %d), which ended on %s: %s\n", c.Program(), c.PID, inWords(c.Time), c.Path)
	return c.Path, nil
}

// pattern says where this machine's cores are instead, or go.
func (s *stored) pattern() string {
	if s.folder != coredumps.Store {
		return ""
	}
	if here := coresHere(); here != "" {
		return ". But " + here
	}
	text, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.Contains(string(text), "systemd-coredump") {
		return ""
	}
	return fmt.Sprintf(". /proc/sys/kernel/core_pattern has where they go: %q", strings.TrimSpace(string(text)))
}

// moment reads a time as --since takes it; "" is none.
func moment(text string, now, none time.Time) (time.Time, error) {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "":
		return none, nil
	case "now":
		return now, nil
	case "today":
		return day, nil
	case "yesterday":
		return day.AddDate(0, 0, -1), nil
	}
	ago, before := strings.CutSuffix(text, " ago")
	if !before {
		ago, before = strings.CutPrefix(text, "-")
	}
	if before {
		if days, ok := strings.CutSuffix(ago, "d"); ok {
			if n, err := strconv.ParseUint(days, 10, 16); err == nil {
				return now.AddDate(0, 0, -int(n)), nil
			}
		}
		if d, err := time.ParseDuration(ago); err == nil && d >= 0 {
			return now.Add(-d), nil
		}
	}
	if seconds, ok := strings.CutPrefix(text, "@"); ok {
		if n, err := strconv.ParseUint(seconds, 10, 40); err == nil {
			return time.Unix(int64(n), 0), nil
		}
	}
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04", time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second), nil
		}
	}
	return none, fmt.Errorf("%q: want a time, such as '2026-11-28 14:00', 14:00, today, yesterday, -2h or -3d", text)
}

func inWords(t time.Time) string { return t.Local().Format("Mon 2006-01-02 15:04:05 MST") }

// listText prints cores as coredumpctl list does.
func listText(out io.Writer, list []coredumps.Core) error {
	rows := [][]string{{"TIME", "PID", "UID", "GID", "SIG", "COREFILE", "EXE", "SIZE"}}
	for i := range list {
		c := &list[i]
		row := []string{inWords(c.Time), strconv.Itoa(c.PID), strconv.Itoa(c.UID), "-", "-", present(c), printable.Escape(c.Program()), inUnits(c.Size)}
		if c.GID >= 0 {
			row[3] = strconv.Itoa(c.GID)
		}
		if c.Signal > 0 {
			row[4] = siginfo.Name(c.Signal)
		}
		rows = append(rows, row)
	}
	var widths [8]int
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			switch i {
			case 0:
				line.WriteString(text + pad)
			case 1, 2, 3, 7: // numbers
				line.WriteString(" " + pad + text)
			default:
				line.WriteString(" " + text + pad)
			}
		}
		if _, err := printable.Fprintf(out, "%s\n", line.String()); err != nil {
			return err
		}
	}
	return nil
}

// present is what coredumpctl says of a core's file.
func present(c *coredumps.Core) string {
	if !c.Readable {
		return "inaccessible"
	}
	return "present"
}

// inUnits writes a number of bytes as systemd does: 79.8K.
func inUnits(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + "B"
	}
	size, unit := float64(n), -1
	for ; size >= 1<<10 && unit < len("KMGTPE")-1; unit++ {
		size /= 1 << 10
	}
	whole := strconv.FormatFloat(float64(int64(size*10))/10, 'f', 1, 64) // systemd cuts off
	return strings.TrimSuffix(whole, ".0") + "KMGTPE"[unit:unit+1]
}

// listJSON prints cores as one document; docs/json.md has its keys.
func listJSON(out io.Writer, list []coredumps.Core) error {
	type row struct {
		Time     int64  `json:"time"`
		PID      int    `json:"pid"`
		UID      int    `json:"uid"`
		GID      *int   `json:"gid,omitempty"`
		Signal   *int   `json:"sig,omitempty"`
		CoreFile string `json:"corefile"`
		Exe      string `json:"exe,omitempty"`
		Comm     string `json:"comm"`
		Hostname string `json:"hostname,omitempty"`
		BootID   string `json:"boot_id"`
		Path     string `json:"core"`
		Size     int64  `json:"size"`
	}
	doc := struct {
		Cores []row `json:"cores"`
	}{[]row{}}
	for i := range list {
		c := &list[i]
		r := row{Time: c.Time.UnixMicro(), PID: c.PID, UID: c.UID, CoreFile: present(c), Exe: c.Exe, Comm: c.Comm,
			Hostname: c.Hostname, BootID: c.BootID, Path: c.Path, Size: c.Size}
		if c.GID >= 0 {
			r.GID = &c.GID
		}
		if c.Signal > 0 {
			r.Signal = &c.Signal
		}
		doc.Cores = append(doc.Cores, r)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
