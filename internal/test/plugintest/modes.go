//go:build linux

package plugintest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sfwalk/sfwalk/internal/test/plugintest/jit"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// withoutCookie are the modes that run without the cookie of a host.
var withoutCookie = map[string]bool{"child": true, "parent": true, "cookie-hang": true, "cookie-silent": true, "cookie-serves": true}

// modes are the plug-ins' functions, by the part of a program's name behind [Prefix].
var modes = map[string]func(){
	"jit":       func() { plugin.Serve(jit.Sniffer{Ahead: true}) },
	"jit-once":  func() { plugin.Serve(jit.Sniffer{Once: true}) },
	"jit-read":  func() { plugin.Serve(jit.Sniffer{Read: true}) },
	"jit-plain": func() { plugin.Serve(jit.Sniffer{}) },
	"declines":  bad{}.serve,

	// Before the handshake.
	"hs-exit":     func() { complain("no licence was found") },
	"hs-exit3":    func() { complain("no licence was found"); os.Exit(3) },
	"hs-crash":    func() { complain("it goes wrong"); die(syscall.SIGKILL) },
	"hs-stopped":  func() { die(syscall.SIGSTOP) },
	"hs-never":    hang,
	"hs-cookie":   func() { complain("This binary is a plugin."); os.Exit(1) },
	"hs-garbage":  func() { fmt.Println("Welcome to \x1b[31mthe program\a"); hang() },
	"hs-huge":     func() { flood(os.Stdout, 64<<20); hang() },
	"hs-core":     func() { fmt.Println("9|1|unix|/tmp/no-such|grpc"); hang() },
	"hs-nowhere":  func() { fmt.Println("1|1|unix|/tmp/no-such-socket|grpc"); hang() },
	"hs-tcp":      func() { fmt.Println("1|1|tcp|" + Arg() + "|grpc"); hang() },
	"hs-netrpc":   func() { fmt.Println("1|1|unix|/tmp/no-such-socket|netrpc"); hang() },
	"hs-version7": func() { bad{}.serveVersion(7) },
	"hs-deaf":     func() { fmt.Println("1|1|unix|" + listen() + "|grpc|"); hang() },
	"hs-cert":     func() { fmt.Println("1|1|unix|" + listen() + "|grpc|" + strings.Repeat("%", 100)); hang() },
	"hs-plain":    func() { os.Unsetenv("PLUGIN_CLIENT_CERT"); bad{}.serve() },

	// The host's messages pile up.
	"deaf": func() {
		bad{
			describe: func(d *protocol.Description) error { d.Needs.Stack = protocol.MaxStack; return nil },
			session: func(s stream) error {
				err := ready(s, &protocol.Ready{})
				for n := uint64(1); err == nil && n < 3; n++ {
					err = answer(s, &protocol.Answer{Number: n, Declines: "without having listened"})
				}
				hang()
				return err
			},
		}.serve()
	},

	// Plug-ins that ignore SIGTERM or leave children behind.
	"sigterm": func() {
		ignoreSignals()
		go bad{}.serveVersion(protocol.Version)
		hang()
	},
	"fork":          func() { fork(false); bad{}.serve() },
	"fork-away":     func() { fork(true); bad{}.serve() },
	"fork-twice":    func() { start(parent, true); bad{}.serve() },
	"child":         func() { ignoreSignals(); hang() },
	"parent":        func() { ignoreSignals(); fork(true) }, // and ends: its child is an orphan
	"floods":        func() { floods(1 << 10) },
	"floods-line":   func() { floods(8 << 20) },
	"stays":         func() { bad{}.serveVersion(protocol.Version) }, // when its standard input ends
	"broker-floods": brokerFloods,
	"cookie-hang":   func() { cookieless(hang) },
	"cookie-silent": func() { cookieless(func() { os.Exit(1) }) },
	"cookie-serves": func() {
		os.Setenv(protocol.CookieKey, protocol.CookieValue)
		bad{}.serve()
	},
}

func init() {
	for what, do := range map[string]func() error{
		"hang":  func() error { hang(); return nil },
		"crash": func() error { complain("it goes wrong"); die(syscall.SIGKILL); return nil },
		"panic": func() error { panic("index out of range") },
		"exit":  func() error { os.Exit(0); return nil },
		"stop":  func() error { die(syscall.SIGSTOP); return nil },
		"error": func() error { return fmt.Errorf("\x1b[31mno such thing\a") },
		"end":   func() error { return errEnd },
	} {
		modes["describe-"+what] = func() { bad{describe: func(*protocol.Description) error { return do() }}.serve() }
		modes["begin-"+what] = func() { bad{begin: func(stream, *protocol.Begin) error { return do() }}.serve() }
		modes["sniff-"+what] = func() { bad{sniff: func(stream, *protocol.Question) error { return do() }}.serve() }
	}
	for what, say := range descriptions {
		modes["describe-"+what] = func() { bad{describe: func(d *protocol.Description) error { say(d); return nil }}.serve() }
	}
	for what, begin := range begins {
		modes["begin-"+what] = func() { bad{begin: begin}.serve() }
	}
	for what, sniff := range sniffs {
		modes["sniff-"+what] = func() { bad{sniff: sniff}.serve() }
	}
	for what, spoil := range answers {
		modes["answer-"+what] = func() {
			bad{sniff: func(s stream, q *protocol.Question) error {
				a := Claim(q)
				spoil(q, a)
				return answer(s, a)
			}}.serve()
		}
	}
}

// SetArg gives the plug-in at path a word for Arg. It must be called before the plug-in starts.
func SetArg(path, arg string) error { return os.WriteFile(path+".arg", []byte(arg), 0o600) }

// Arg returns the word of SetArg, in the plug-in.
func Arg() string {
	arg, err := os.ReadFile(os.Args[0] + ".arg")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return strings.TrimSpace(string(arg))
}

// cookieless calls do if it was started without the cookie, and serves otherwise.
func cookieless(do func()) {
	if os.Getenv(protocol.CookieKey) == "" {
		do()
	}
	bad{}.serve()
}

// listen returns the path of a socket that accepts connections and never answers.
func listen() string {
	path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "socket")
	if _, err := net.Listen("unix", path); err != nil {
		complain(err.Error())
		os.Exit(1)
	}
	return path
}

// complain writes to descriptor 2. go-plugin replaces os.Stderr, and text there is lost if the
// program ends at once.
func complain(text string) { fmt.Fprintln(os.NewFile(2, ""), text) }

// hang sleeps for longer than any test, but not for ever. It makes a file that tests wait for
// ([Hangs]).
func hang() {
	if filepath.IsAbs(os.Args[0]) { // not what a plug-in has started: it would be in /
		os.WriteFile(os.Args[0]+hangs, nil, 0o600)
	}
	time.Sleep(10 * time.Minute)
}

func die(sig syscall.Signal) {
	syscall.Kill(os.Getpid(), sig)
	hang()
}

// floods serves a plug-in that writes much with every answer, in lines of that length.
func floods(line int) {
	bad{sniff: func(s stream, q *protocol.Question) error {
		for _, fd := range []uintptr{2, 1} {
			w := os.NewFile(fd, "")
			for n := 0; n < 8<<20; n += line {
				flood(w, line)
				fmt.Fprintln(w)
			}
		}
		return answer(s, &protocol.Answer{Number: q.Number, Declines: "after a flood"})
	}}.serve()
}

// brokerFloods serves a plug-in whose broker, if asked, announces connections without end.
func brokerFloods() {
	asked, told := make(chan bool), make(chan bool)
	bad{
		broker: func(s grpc.ServerStream) {
			close(asked)
			for id := uint32(1); s.SendMsg(wrapperspb.UInt32(id)) == nil; id++ { // a ConnInfo with that service_id
				if id == 50_000 {
					close(told)
				}
			}
		},
		sniff: func(s stream, q *protocol.Question) error {
			select {
			case <-asked:
				<-told
			default:
			}
			return answer(s, &protocol.Answer{Number: q.Number, Declines: "after a flood"})
		},
	}.serve()
}

// flood writes n bytes, or as many as w takes, without a newline.
func flood(w io.Writer, n int) {
	block := bytes.Repeat([]byte("x"), min(n, 64<<10))
	for ; n > 0; n -= len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// Names of programs that plug-ins leave behind.
const (
	child  = Prefix + "child"
	parent = Prefix + "parent"
)

// fork starts a child with this process's standard output and error, in a session of its own if
// away.
func fork(away bool) { start(child, away) }

func start(name string, away bool) {
	self, err := os.Executable()
	path := self + "-" + name
	if err == nil {
		err = Copy(path)
	}
	if err != nil {
		complain(err.Error())
		os.Exit(1)
	}
	cmd := exec.Command(path)
	cmd.Args[0] = name
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: away}
	if err := cmd.Start(); err != nil {
		complain(err.Error())
		os.Exit(1)
	}
}

func ignoreSignals() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
}
