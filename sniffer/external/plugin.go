package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	hcplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sfwalk/sfwalk/internal/subprocess"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// Plugin is a running plug-in. It is safe for concurrent use.
type Plugin struct {
	Path        string
	Description plugin.Description // checked, but there may be no sniffer with the name in Before
	Protocol    int                // version of the protocol that both speak
	Started     time.Duration      // how long the start took, with the description

	opts    Options
	program *program
	stderr  tail
	client  *hcplugin.Client
	service protocol.SnifferClient

	mu      sync.Mutex
	process *process // nil before start has made it
	closed  bool     // start must not make it any more

	spent   atomic.Int64 // time.Duration of all answers so far
	fault   atomic.Pointer[error]
	ending  sync.Once
	started chan struct{}   // is closed when start is over
	ctx     context.Context // until the end
	cancel  context.CancelFunc
}

// maxMessage bounds a message of a plug-in, in bytes.
const maxMessage = 2 << 20

// maxHeaders bounds the headers and the status of a call, in bytes.
const maxHeaders = 64 << 10

// withoutBroker refuses go-plugin's broker of further connections: go-plugin would have a goroutine
// wait for each connection that a plug-in announces.
func withoutBroker(ctx context.Context, d *grpc.StreamDesc, c *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if method == "/plugin.GRPCBroker/StartStream" {
		return nil, status.Error(codes.Unimplemented, "sfwalk has no broker")
	}
	return stream(ctx, d, c, method, opts...)
}

// Start starts a plug-in and asks for its description. The error names the program, says what it
// did and what to do, and has the end of its standard error.
func Start(ctx context.Context, o Options) (*Plugin, error) {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.Deadline = cmp.Or(o.Deadline, DefaultDeadline)
	program, err := open(o.Path)
	if err != nil {
		return nil, fmt.Errorf("plug-in %s: %w", o.Path, err)
	}
	path := program.name
	if o.Guard {
		err = program.guard()
	}
	if err == nil {
		err = program.checksum(o.SHA256)
	}
	if err != nil {
		program.Close()
		return nil, fmt.Errorf("plug-in %s: %w", path, err)
	}
	p := &Plugin{Path: path, opts: o, program: program, stderr: tail{to: o.Stderr}, started: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	begin := time.Now()
	started := make(chan error, 1)
	go func() {
		defer close(p.started)
		started <- p.start()
	}()
	timer := time.NewTimer(o.StartTimeout)
	defer timer.Stop()
	select {
	case err = <-started:
	case <-timer.C:
		err = fmt.Errorf("%w: it has not said who it is within %v", ErrStart, o.StartTimeout)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.Close()
		if text := p.stderr.end(); text != "" && ctx.Err() == nil {
			err = fmt.Errorf("%w; it wrote: %s", err, text)
		}
		return nil, fmt.Errorf("plug-in %s: %w", path, err)
	}
	p.Started = time.Since(begin)
	return p, nil
}

// start runs the process, makes go-plugin's handshake with it, and asks for its description.
func (p *Plugin) start() error {
	var keeper *subprocess.Keeper
	var failed error
	var starting sync.WaitGroup
	starting.Go(func() { keeper, failed = subprocess.New(socketDir()) }) // meanwhile the certificate is made
	config, certificate, err := mutualTLS()
	if starting.Wait(); failed != nil {
		return fmt.Errorf("%w: %w", ErrStart, failed)
	}
	if err != nil {
		keeper.Kill()
		keeper.Gone()
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	p.client = hcplugin.NewClient(&hcplugin.ClientConfig{
		HandshakeConfig:  hcplugin.HandshakeConfig{MagicCookieKey: protocol.CookieKey, MagicCookieValue: protocol.CookieValue},
		VersionedPlugins: map[int]hcplugin.PluginSet{protocol.Version: {protocol.Service: service{}}},
		AllowedProtocols: []hcplugin.Protocol{hcplugin.ProtocolGRPC},
		TLSConfig:        config,
		SkipHostEnv:      true,
		StartTimeout:     2 * p.opts.StartTimeout, // Start's own ends first, and its error says what is missing
		Logger:           hclog.NewNullLogger(),
		Stderr:           &p.stderr,
		SyncStderr:       &p.stderr,
		UnixSocketConfig: &hcplugin.UnixSocketConfig{TempDir: keeper.Folder},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)), grpc.WithMaxHeaderListSize(maxHeaders),
			grpc.WithStreamInterceptor(withoutBroker),
		},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, folder string) (runner.Runner, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.closed {
				return nil, os.ErrClosed
			}
			os.Remove(folder) // go-plugin's own: its name would make the socket's path longer
			cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, hcplugin.EnvUnixSocketDir+"=") })
			command := p.program.command(p.opts.Guard)
			command.Env = append(environment(p.opts.Guard), cmd.Env...)
			command.Env = append(command.Env, hcplugin.EnvUnixSocketDir+"="+keeper.Folder, "PLUGIN_CLIENT_CERT="+string(certificate))
			p.process = newProcess(command, keeper)
			return p.process, nil
		},
	})
	client, err := p.client.Client()
	if err != nil {
		if p.process == nil {
			keeper.Kill()
			keeper.Gone()
		}
		return p.startError(err)
	}
	raw, err := client.Dispense(protocol.Service)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	p.service = raw.(protocol.SnifferClient)
	p.Protocol = p.client.NegotiatedVersion()
	d, err := p.service.Describe(p.ctx, &protocol.DescribeRequest{Host: p.opts.Host})
	if err != nil {
		return p.callError(ErrStart, err)
	}
	p.Description, err = description(d)
	return err
}

// socketDir returns the folder in which the folder of a plug-in's socket is made. Its path is
// short, because the kernel bounds the length of a socket's path.
func socketDir() string {
	const longest = 60 // the kernel's 107, less what is appended
	dir := os.TempDir()
	if len(dir) <= longest {
		return dir
	}
	return "/tmp"
}

// service describes the gRPC service to go-plugin.
type service struct {
	hcplugin.NetRPCUnsupportedPlugin
}

// GRPCServer is the plug-in's side.
func (service) GRPCServer(*hcplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is a host, not a plug-in")
}

// GRPCClient is called by go-plugin.
func (service) GRPCClient(_ context.Context, _ *hcplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return protocol.NewSnifferClient(conn), nil
}

var otherVersion = regexp.MustCompile(`^incompatible API version with plugin\. Plugin version: (\d+)`)

// startError explains why a plug-in does not start.
func (p *Plugin) startError(err error) error {
	text := err.Error()
	if m := otherVersion.FindStringSubmatch(text); m != nil {
		what := "rebuild the plug-in with this sfwalk's package plugin"
		if v, err := strconv.Atoi(m[1]); err == nil && v > protocol.Version {
			what = "update sfwalk"
		}
		return fmt.Errorf("%w: it wants version %s, this sfwalk has version %d: %s", ErrVersion, m[1], protocol.Version, what)
	}
	line, unknown := strings.CutPrefix(text, "Unrecognized remote plugin message:")
	line, _, _ = strings.Cut(line, "\n")
	line = strings.TrimSpace(line)
	if unknown && line != "" {
		return fmt.Errorf("%w: it is no plug-in, or not one for go-plugin: it says %q", ErrStart, clean(line, 80))
	}
	if unknown || strings.HasPrefix(text, "plugin exited") {
		how, ended := p.ended(grace)
		if !ended {
			how = "or has closed its standard output"
		}
		return fmt.Errorf("%w: it has ended (%s) before it said who it is: it is no plug-in, or fails at once", ErrStart, how)
	}
	return fmt.Errorf("%w: %s", ErrStart, clean(text, protocol.MaxText))
}

// ended returns how the process has ended. It waits a little for a process that is about to end.
func (p *Plugin) ended(within time.Duration) (how string, ended bool) {
	p.mu.Lock()
	process := p.process
	p.mu.Unlock()
	if process == nil || process.ID() == "" {
		return "", false
	}
	select {
	case <-process.ended:
	case <-time.After(within):
		return "", false
	}
	select {
	case <-process.stderr.over: // its last words have been read
	case <-time.After(2 * grace):
	}
	return process.state.How, true
}

// callError explains why a call or a stream has failed. The error wraps otherwise if the plug-in
// has not ended.
func (p *Plugin) callError(otherwise, err error) error {
	if p.ctx.Err() != nil {
		return os.ErrClosed
	}
	s, ok := status.FromError(err)
	within, unavailable := grace, ok && s.Code() == codes.Unavailable
	noTLS := unavailable && strings.Contains(s.Message(), "handshake")
	if unavailable && !noTLS {
		within = p.opts.StartTimeout // the connection is broken: the process ends as soon as the machine lets it
	}
	if how, ended := p.ended(within); ended {
		return fmt.Errorf("%w: %s", ErrCrash, how)
	}
	if ok {
		switch {
		case s.Code() == codes.Unimplemented:
			return fmt.Errorf("%w: it does not serve sfwalk.sniffer.v1.Sniffer", otherwise)
		case noTLS:
			return fmt.Errorf("%w: it must speak TLS, with the host's certificate from PLUGIN_CLIENT_CERT and its own in the handshake: %s", otherwise, clean(s.Message(), 200))
		}
		return fmt.Errorf("%w: %s: %s", otherwise, s.Code(), clean(s.Message(), 200))
	}
	return fmt.Errorf("%w: %s", otherwise, clean(err.Error(), 200))
}

// fail puts the plug-in out of use: it ends the process, and the host asks no more questions.
func (p *Plugin) fail(err error) {
	if text := p.stderr.end(); text != "" && errors.Is(err, ErrCrash) {
		err = fmt.Errorf("%w; it wrote: %s", err, text)
	}
	err = fmt.Errorf("plug-in %s (%s): %w: it is left out", p.Description.Name, p.Path, err)
	if p.fault.CompareAndSwap(nil, &err) {
		go p.Close()
	}
}

// Err returns the fault that has put the plug-in out of use, or nil.
func (p *Plugin) Err() error {
	if err := p.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// SHA256 returns the checksum of the program that runs, in hexadecimal.
func (p *Plugin) SHA256() (string, error) { return p.program.sum() }

// Close ends the plug-in's process.
func (p *Plugin) Close() error {
	p.ending.Do(func() {
		if p.program != nil { // only tests have none
			defer p.program.Close()
		}
		p.cancel()
		p.mu.Lock()
		process := p.process
		p.closed = true
		p.mu.Unlock()
		if process == nil {
			return
		}
		process.end()
		<-p.started // so that go-plugin's client is not used twice
		p.client.Kill()
		process.release()
	})
	return nil
}
