package profile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
)

// topFlags are the flags of top.
type topFlags struct {
	recordFlags
	every time.Duration
}

// NewTop makes the verb top.
func NewTop(host hosts.Plugins, terminal ScreenHost) *cobra.Command {
	var flags topFlags
	cmd := &cobra.Command{
		Use:   "top {PID... | --container NAME | --system}",
		Short: "Show where a process spends its time, on a screen",
		Long: `top records as 'sfwalk record' does, and shows the functions that take the time on a screen, which changes every second. As there, --name, --children,
--cgroup and --container find processes.

OWN is the share of the samples of the last five rounds that are in a function itself, and TOTAL of those in what it
has called, too. OWN TIME and TOTAL TIME are the same since the beginning, in seconds of a processor. The first line says how much of one
processor the process uses. With --wall, threads that wait count, too.

Keys: up, down, page up, page down, home and end select a line. Enter shows the stacks that have it, those with the most
samples first; escape leads back. 1 to 4, left and right say which column sorts. t shows threads instead of functions. Space
pauses. r begins anew. q ends.

sfwalk becomes the program sfwalk-full for this.

Exit codes: 0 the user has ended it; 1 error; 2 usage.`,
		Example: `  sfwalk top 4242
  sfwalk top 4242 -F 999 --every 500ms
  sfwalk top 4242 --wall
  sfwalk top 4242 --event page-faults
  sfwalk top --container web
  sfwalk top --system`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cmdline.CompleteProcess,
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := flags.check(cmd, args)
			if err != nil {
				return err
			}
			if terminal == nil {
				return hosts.BecomeFull()
			}
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			return flags.run(cmd, terminal, args, pids)
		},
	}
	f := cmd.Flags()
	cmdline.Duration(f, &flags.every, "every", time.Second, "the time between two rounds")
	flags.addSampling(cmd, host)
	return cmd
}

// check finds mistakes in the flags, and returns the processes that the arguments name.
func (t *topFlags) check(cmd *cobra.Command, args []string) (pids []int, err error) {
	if pids, err = t.checkSampling(cmd, args, nil); err != nil {
		return nil, err
	}
	if t.every < 50*time.Millisecond || t.every > time.Hour {
		return nil, exit.Misuse(fmt.Errorf("--every %v: want 50ms to 1h", t.every))
	}
	return pids, nil
}

// run records, and shows it, until the user ends it.
func (t *topFlags) run(cmd *cobra.Command, terminal ScreenHost, args []string, pids []int) error {
	var said warningList
	options, err := t.options(pids, &said)
	if err != nil {
		return err
	}
	targets.ShortSlices()
	if t.wall {
		targets.DeferStops()
	}
	recorder, err := t.start(cmd, args, &options)
	if err != nil {
		return err
	}
	defer recorder.Close()
	shown := newShown(recorder, subject{}, &t.Flags)
	defer shown.symbols.Close()
	ctx, cancel := context.WithCancel(cmd.Context())
	s := &topScreen{model: newTopModel(options.PIDs, options.Event.Unit, t.wall), changed: make(chan struct{}, 1)}
	ran, followed := make(chan error, 1), make(chan struct{})
	go func() { ran <- recorder.Run(ctx) }()
	var failed error
	go func() {
		defer close(followed)
		failed = s.follow(ctx, shown, t.every, ran)
	}()
	err = terminal.Show(ctx, Screen{Draw: s.draw, Key: s.key, Changed: s.changed})
	cancel()
	<-followed
	for _, text := range slices.Concat(said, shown.warnings(), t.Warned()) {
		cmdline.Warn(cmd, text)
	}
	if err == nil {
		err = failed
	}
	return err
}

// topScreen is a model that a terminal shows while it changes.
type topScreen struct {
	mu      sync.Mutex
	model   *topModel
	changed chan struct{}
}

func (s *topScreen) draw(height int) []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.draw(height)
}

func (s *topScreen) key(key string) (end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.key(key)
}

// follow gives the model what is recorded, round by round, until ctx is done or the processes have
// ended. ran has what ended the recording.
func (s *topScreen) follow(ctx context.Context, shown *shown, every time.Duration, ran <-chan error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var err error
		ended := false
		select {
		case <-tick.C:
		case err = <-ran:
			ended = true
		}
		s.mu.Lock()
		if paused := s.model.paused; !paused || ended {
			stacks, profile := shown.round()
			s.model.add(stacks, profile.Duration, shown.profile.Stats)
			s.model.ended = ended
			if s.model.name == "" && len(s.model.pids) == 1 && len(profile.Threads) > 0 {
				s.model.name = profile.Threads[0].Process
			}
		}
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default: // it will be drawn with what was there before
		}
		if ended {
			return err
		}
	}
}

// round returns what has come since the last round.
func (s *shown) round() (*picture.Stacks, *record.Profile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.profile
	s.profile = s.recorder.Profile()
	since := s.profile.Since(before)
	return s.namer.Picture(since), since
}
