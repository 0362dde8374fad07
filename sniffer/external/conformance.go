package external

import (
	"crypto/tls"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/subprocess"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// The rest of this file is for package check, which asks a plug-in as the host does, and sees what
// the host would hide.

// MutualTLS returns the host's TLS configuration and the text for PLUGIN_CLIENT_CERT. The
// configuration lacks the plug-in's certificate, which comes with the handshake.
func MutualTLS() (config *tls.Config, text []byte, err error) { return mutualTLS() }

// Program is a plug-in's file. It is opened once: the file that is checked is the one that runs.
type Program struct{ file *program }

// Open opens an executable file.
func Open(path string) (Program, error) {
	p, err := open(path)
	return Program{p}, err
}

// Pin compares the program with a checksum. If others may change the file, Pin makes a copy that
// they cannot change, and the copy runs.
func (p Program) Pin(sha256 string) error { return p.file.checksum(sha256) }

// SHA256 returns the checksum in hexadecimal.
func (p Program) SHA256() (string, error) { return p.file.sum() }

// Command returns the command that runs the program.
func (p Program) Command() subprocess.Command {
	c := p.file.command(false)
	c.Env = environment(false)
	return c
}

// Close lets go of the file.
func (p Program) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// Serve answers a request of a plug-in. The error, which wraps [ErrNonsense], says what is wrong
// with the request.
func Serve(m *protocol.FromPlugin, memory target.Memory, modules *target.Modules) (*protocol.FromHost, error) {
	x := session{about: &asked{memory: memory, modules: modules}}
	return x.serve(m)
}

// Describe checks a plug-in's description of itself. The error, which wraps [ErrNonsense], says
// what is wrong with it.
func Describe(m *protocol.Description) error {
	_, err := description(m)
	return err
}

// Check checks an answer to a question. The error, which wraps [ErrNonsense], says what is
// wrong with it.
func Check(m *protocol.Answer, q *protocol.Question, a *arch.Arch, memory target.Memory, modules *target.Modules) error {
	about := asked{arch: a, modules: modules, memory: memory, block: q.Block, regs: new(arch.Registers)}
	for i, r := range q.Registers {
		if r < arch.MaxReg && i < len(q.Values) {
			about.regs.Set(trad.Reg(r), q.Values[i])
		}
	}
	_, err := about.check(m)
	return err
}
