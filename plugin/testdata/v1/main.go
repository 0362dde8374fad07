// Sniffer-v1 is a plug-in as one was written for the first version of the protocol: by its
// own copy of sniffer.proto and of what protoc made of it, and with a module of its own that
// pins what it was built with. It shares no package with the host.
//
// It is frozen. Nothing here is ever changed, and it is built and run by the host's tests
// for as long as version 1 is supported: a host that it fails with has broken version 1.
// README.md says from where it was taken.
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
// knows. With the argument "descriptor" it writes its protocol's descriptor, a serialized
// google.protobuf.FileDescriptorProto.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"example.org/sniffer-v1/protocol"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
)

// What the two sides of version 1 know beside the messages.
const (
	cookieKey   = "SFWALK_PLUGIN"
	cookieValue = "7c0f6f0a3a2f4f1c9a5d5b7f2c6f1e0d"
	service     = "sniffer"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "descriptor" {
		b, err := proto.Marshal(protodesc.ToFileDescriptorProto(protocol.File_sniffer_proto))
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(b)
		return
	}
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

type sniffer struct {
	plugin.NetRPCUnsupportedPlugin
	protocol.UnimplementedSnifferServer
}

func (s *sniffer) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	protocol.RegisterSnifferServer(g, s)
	return nil
}

func (s *sniffer) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a plug-in is no host")
}

func (s *sniffer) Describe(context.Context, *protocol.DescribeRequest) (*protocol.Description, error) {
	return &protocol.Description{
		Name: "frozen-v1", Version: "1.0", Architectures: []string{"amd64"}, Before: "sframe",
		Claims: &protocol.Claims{Modules: []string{"three*"}},
		Needs:  &protocol.Needs{Stack: 64, CodeBefore: 16, CodeAfter: 16},
	}, nil
}

func (s *sniffer) Session(stream protocol.Sniffer_SessionServer) error {
	x := session{stream: stream}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply := &protocol.FromPlugin{}
		switch m := m.Message.(type) {
		case *protocol.FromHost_Begin:
			ready, err := x.begin(m.Begin)
			if err != nil {
				return err
			}
			reply.Message = &protocol.FromPlugin_Ready{Ready: ready}
		case *protocol.FromHost_Question:
			answer, err := x.answer(m.Question)
			if err != nil {
				return err
			}
			answer.Number = m.Question.Number
			reply.Message = &protocol.FromPlugin_Answer{Answer: answer}
		default:
			return fmt.Errorf("the host sends %T", m)
		}
		if err := stream.Send(reply); err != nil {
			return err
		}
	}
}

type session struct {
	stream              protocol.Sniffer_SessionServer
	begun               *protocol.Begin
	leaf, middle, outer *protocol.Symbol
}

func (x *session) ask(m *protocol.FromPlugin) (*protocol.FromHost, error) {
	if err := x.stream.Send(m); err != nil {
		return nil, err
	}
	return x.stream.Recv()
}

// find returns the function of that name in the program.
func (x *session) find(name string) (*protocol.Symbol, error) {
	reply, err := x.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_Find{Find: &protocol.Find{Name: name, Module: "three*"}}})
	if err != nil {
		return nil, err
	}
	if n := len(reply.GetFound().GetSymbols()); n != 1 {
		return nil, fmt.Errorf("%s: %d symbols found instead of one", name, n)
	}
	return reply.GetFound().Symbols[0], nil
}

func (x *session) begin(begin *protocol.Begin) (*protocol.Ready, error) {
	x.begun = begin
	program := ""
	for from := uint32(0); ; {
		reply, err := x.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_List{List: &protocol.List{From: from}}})
		if err != nil {
			return nil, err
		}
		part := reply.GetModules()
		for _, m := range part.GetModules() {
			if strings.HasPrefix(m.Path[strings.LastIndexByte(m.Path, '/')+1:], "three") && len(m.Mappings) > 0 {
				program = m.Path
			}
		}
		if part.GetMore() <= from {
			break
		}
		from = part.More
	}
	if program == "" {
		return &protocol.Ready{Declines: "the program is another one"}, nil
	}
	var err error
	for name, to := range map[string]**protocol.Symbol{"leaf": &x.leaf, "middle": &x.middle, "outer": &x.outer} {
		if *to, err = x.find(name); err != nil {
			return nil, err
		}
	}
	return &protocol.Ready{}, nil
}

func in(s *protocol.Symbol, addr uint64) bool { return s.Lo <= addr && addr < s.Hi }

func (x *session) answer(q *protocol.Question) (*protocol.Answer, error) {
	switch {
	case in(x.leaf, q.Block):
		return &protocol.Answer{
			Row: &protocol.Row{
				Lo: q.Block, Hi: x.leaf.Hi,
				Cfa:        &protocol.Rule{Kind: protocol.Rule_IN_REGISTER, Register: x.begun.Fp, Offset: 16},
				Ra:         &protocol.Rule{Kind: protocol.Rule_SAVED, Offset: -8},
				Fp:         &protocol.Rule{Kind: protocol.Rule_SAVED, Offset: -16},
				OthersSame: true,
			},
			Symbols: []*protocol.Symbol{{Lo: x.leaf.Lo, Hi: x.leaf.Hi, Function: "leaf, says version 1", File: "three.c", Line: 1}},
		}, nil
	case in(x.middle, q.Block):
		return x.frame(q)
	}
	return &protocol.Answer{Declines: "neither leaf nor middle", Never: []*protocol.Range{{Lo: x.outer.Lo, Hi: x.outer.Hi}}}, nil
}

// frame answers with PREVIOUS's PC as a place and its FP as a value.
func (x *session) frame(q *protocol.Question) (*protocol.Answer, error) {
	fp, ok := uint64(0), false
	for i, r := range q.Registers {
		if r == x.begun.Fp {
			fp, ok = q.Values[i], true
		}
	}
	if !ok {
		return &protocol.Answer{Declines: "FP is not known"}, nil
	}
	reply, err := x.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_Read{Read: &protocol.Read{Ranges: []*protocol.Range{{Lo: fp, Hi: fp + 8}}}}})
	if err != nil {
		return nil, err
	}
	blocks := reply.GetMemory().GetBlocks()
	if len(blocks) != 1 || len(blocks[0].Data) != 8 {
		return nil, fmt.Errorf("reading 8 bytes at %#x: the host sends %v", fp, reply)
	}
	value := uint64(0)
	for i, b := range blocks[0].Data {
		value |= uint64(b) << (8 * i)
	}
	return &protocol.Answer{Frame: &protocol.Frame{
		Cfa: fp + 16, Function: x.middle.Lo,
		Pc: &protocol.Rule{Kind: protocol.Rule_SAVED_AT_IS, Address: fp + 8},
		Fp: &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: value},
	}}, nil
}
