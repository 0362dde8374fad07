//go:build linux

package attach

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// These are the goals.
const (
	addedGoal     = 15 * time.Millisecond // of a processor, for an attach to one thread of 100 frames
	strangeGoal   = 200 * time.Microsecond
	processesTime = time.Second
	processesRoom = 200 << 20
)

// interpreterDepth is how many functions of the language are below one another.
const interpreterDepth = 100

// interpreters are programs whose single thread waits below many functions of a language.
var interpreters = []struct{ language, program, script string }{
	{"JavaScript", "node", "deep.js"},
	{"Ruby", "ruby", "deep.rb"},
	{"PHP", "php", "deep.php"},
	{"Perl", "perl", "deep.pl"},
	{"Lua", "lua5.4", "deep.lua"},
}

// interpreted measures the decorators of languages whose frames no other tool here reads.
func (l *languages) interpreted(ctx context.Context) error {
	for _, i := range interpreters {
		p := scenario{name: fmt.Sprintf("%s, 1 × %d", i.language, interpreterDepth)}
		path, err := exec.LookPath(i.program)
		if err != nil {
			l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": decorating", Peer: "a bound", Most: 1, Missing: i.program + " is not installed"})
			continue
		}
		p.program, p.args = path, []string{filepath.Join(l.d.Root, "internal/bench/programs", i.script), strconv.Itoa(interpreterDepth)}
		started, err := l.start(p, nil)
		if err != nil {
			return err
		}
		added, err := l.decorating(ctx, started.PID)
		started.Stop()
		if err != nil {
			return err
		}
		if added.frames < interpreterDepth {
			return fmt.Errorf("%s: %d frames of the language", p.name, added.frames)
		}
		l.s.Versions = append(l.s.Versions, interpreterVersion(i.program, path))
		l.s.Tables = append(l.s.Tables, added.table(p.name, i.language))
		l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": decorating", Peer: "a bound", Most: 1, Ours: report.Time(added.find + added.decorate), Theirs: report.Time(addedGoal)})
	}
	return nil
}

// interpreterVersion returns what an interpreter says of its release.
func interpreterVersion(program, path string) string {
	if program == "node" || program == "ruby" || program == "php" {
		return strings.TrimSpace(program + " " + strings.TrimPrefix(build.Version(path), program+" "))
	}
	out, err := exec.Command(path, "-v").CombinedOutput()
	if err != nil {
		return program
	}
	return strings.TrimSpace(strings.Split(strings.TrimSpace(string(out)), "\n")[0])
}

// erlang measures the list of many processes of Erlang.
func (l *languages) erlang(ctx context.Context) error {
	n := 1000 * l.many * 2
	p := scenario{name: fmt.Sprintf("Erlang, %d processes", n)}
	path, err := exec.LookPath("erl")
	if err != nil {
		l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": wall", Peer: "a bound", Most: 1, Missing: "erl is not installed"})
		return nil
	}
	p.program = path
	p.args = []string{"+P", strconv.Itoa(2 * n), "-noshell", "-eval",
		fmt.Sprintf(`[spawn(timer, sleep, [infinity]) || _ <- lists:seq(1, %d)], io:format("ready~n"), timer:sleep(infinity).`, n)}
	release, err := exec.CommandContext(ctx, path, "-noshell", "-eval", `io:format("~s", [erlang:system_info(otp_release)]), halt().`).Output()
	if err != nil {
		return fmt.Errorf("erl: %w", err)
	}
	l.s.Versions = append(l.s.Versions, "OTP "+string(release))
	by, err := l.costs(ctx, p, []tool{{name: tasks, args: []string{l.sfwalk, "attach", "--tasks", "PID"}}})
	if err != nil {
		return err
	}
	l.s.Goals = append(l.s.Goals,
		report.Goal{What: p.name + ": wall", Peer: "a bound", Most: 1, Ours: report.Time(report.Median(by[tasks].wall)), Theirs: report.Time(processesTime)},
		report.Goal{What: p.name + ": peak memory", Peer: "a bound", Most: 1, Ours: report.Memory(report.Median(by[tasks].peak)), Theirs: report.Memory(processesRoom)})
	return nil
}

const tasks = "sfwalk attach --tasks"
