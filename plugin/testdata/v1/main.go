// Sniffer-v1 is a plug-in of the first version of the protocol. It shares no package with the host:
// its messages are from sniffer.binpb, a copy of the first version, and a module of its own pins
// the libraries that it is built with.
//
// It is frozen. Nothing here changes, and the host's tests build and run it for as long as they
// support version 1: a host that it fails with has broken version 1. README.md says where the
// files come from.
//
// It answers in all ways that there are, about a program that has functions leaf, middle and
// outer with frame pointers:
//
//	leaf    by a row with the function's range, found by Find
//	middle  by a frame, with PREVIOUS's FP read by Read
//	outer   by a decline
//
// and finds the program by List before the first answer.
//
// Started under a name that ends with -v7, it says that it speaks version 7, which no host
// knows.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// What the two sides of version 1 know beside the messages.
const (
	cookieKey   = "SFWALK_PLUGIN"
	cookieValue = "7c0f6f0a3a2f4f1c9a5d5b7f2c6f1e0d"
	service     = "sniffer"
)

func main() {
	version := 1
	if strings.HasSuffix(os.Args[0], "-v7") {
		version = 7
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{version: {service: &sniffer{}}},
		GRPCServer:       plugin.DefaultGRPCServer,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}),
	})
}

type sniffer struct{ plugin.NetRPCUnsupportedPlugin }

func (s *sniffer) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	g.RegisterService(&grpc.ServiceDesc{
		ServiceName: "sfwalk.sniffer.v1.Sniffer",
		Methods:     []grpc.MethodDesc{{MethodName: "Describe", Handler: describe}},
		Streams:     []grpc.StreamDesc{{StreamName: "Session", Handler: serve, ServerStreams: true, ClientStreams: true}},
	}, nil)
	return nil
}

func (s *sniffer) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a plug-in is no host")
}

func describe(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	if err := decode(empty("DescribeRequest")); err != nil {
		return nil, err
	}
	return message("Description", `name: "frozen-v1" version: "1.0" architectures: "amd64" before: "sframe"
		claims { modules: "three*" }
		needs { stack: 64 code_before: 16 code_after: 16 }`), nil
}

func serve(_ any, stream grpc.ServerStream) error {
	x := session{stream: stream}
	for {
		m, err := x.receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply := ""
		switch {
		case m.has("begin"):
			reply, err = x.begin(m.get("begin"))
		case m.has("question"):
			reply, err = x.answer(m.get("question"))
		default:
			err = fmt.Errorf("the host sends %v", m)
		}
		if err == nil {
			err = x.send(reply)
		}
		if err != nil {
			return err
		}
	}
}

type session struct {
	stream              grpc.ServerStream
	fp                  uint64 // the number of the frame pointer
	leaf, middle, outer object // symbols
}

func (x *session) receive() (object, error) {
	m := empty("FromHost")
	err := x.stream.RecvMsg(m)
	return object{m}, err
}

func (x *session) send(text string) error { return x.stream.SendMsg(message("FromPlugin", text)) }

func (x *session) ask(text string) (object, error) {
	if err := x.send(text); err != nil {
		return object{}, err
	}
	return x.receive()
}

// find returns the function of that name in the program.
func (x *session) find(name string) (object, error) {
	reply, err := x.ask(fmt.Sprintf(`find { name: %q module: "three*" }`, name))
	if err != nil {
		return object{}, err
	}
	found := reply.get("found").list("symbols")
	if len(found) != 1 {
		return object{}, fmt.Errorf("%s: %d symbols found instead of one", name, len(found))
	}
	return found[0], nil
}

func (x *session) begin(begin object) (string, error) {
	x.fp = begin.uint("fp")
	program := ""
	for from := uint64(0); ; {
		reply, err := x.ask(fmt.Sprintf("list { from: %d }", from))
		if err != nil {
			return "", err
		}
		part := reply.get("modules")
		for _, m := range part.list("modules") {
			path := m.string("path")
			if strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "three") && len(m.list("mappings")) > 0 {
				program = path
			}
		}
		more := part.uint("more")
		if more <= from {
			break
		}
		from = more
	}
	if program == "" {
		return `ready { declines: "the program is another one" }`, nil
	}
	var err error
	for name, to := range map[string]*object{"leaf": &x.leaf, "middle": &x.middle, "outer": &x.outer} {
		if *to, err = x.find(name); err != nil {
			return "", err
		}
	}
	return "ready {}", nil
}

func in(s object, addr uint64) bool { return s.uint("lo") <= addr && addr < s.uint("hi") }

func (x *session) answer(q object) (string, error) {
	number, block := q.uint("number"), q.uint("block")
	switch {
	case in(x.leaf, block):
		return fmt.Sprintf(`answer {
			number: %d
			row {
				lo: %d hi: %d
				cfa { kind: IN_REGISTER register: %d offset: 16 }
				ra { kind: SAVED offset: -8 }
				fp { kind: SAVED offset: -16 }
				others_same: true
			}
			symbols { lo: %d hi: %[3]d function: "leaf, says version 1" file: "three.c" line: 1 }
		}`, number, block, x.leaf.uint("hi"), x.fp, x.leaf.uint("lo")), nil
	case in(x.middle, block):
		return x.frame(q)
	}
	return fmt.Sprintf(`answer { number: %d declines: "neither leaf nor middle" never { lo: %d hi: %d } }`,
		number, x.outer.uint("lo"), x.outer.uint("hi")), nil
}

// frame answers with PREVIOUS's PC as a place and its FP as a value.
func (x *session) frame(q object) (string, error) {
	number, values := q.uint("number"), q.uints("values")
	fp, ok := uint64(0), false
	for i, r := range q.uints("registers") {
		if r == x.fp {
			fp, ok = values[i], true
		}
	}
	if !ok {
		return fmt.Sprintf(`answer { number: %d declines: "FP is not known" }`, number), nil
	}
	reply, err := x.ask(fmt.Sprintf("read { ranges { lo: %d hi: %d } }", fp, fp+8))
	if err != nil {
		return "", err
	}
	blocks := reply.get("memory").list("blocks")
	if len(blocks) != 1 || len(blocks[0].bytes("data")) != 8 {
		return "", fmt.Errorf("reading 8 bytes at %#x: the host sends %v", fp, reply)
	}
	value := uint64(0)
	for i, b := range blocks[0].bytes("data") {
		value |= uint64(b) << (8 * i)
	}
	return fmt.Sprintf(`answer {
		number: %d
		frame {
			cfa: %d function: %d
			pc { kind: SAVED_AT_IS address: %d }
			fp { kind: VALUE_IS address: %d }
		}
	}`, number, fp+16, x.middle.uint("lo"), fp+8, value), nil
}
