package external

import (
	"crypto/tls"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/subprocess"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// What package check needs of the host, to ask a plug-in as the host does where the host
// would hide what it sees.

// MutualTLS makes the host's end of the connection, but for the plug-in's certificate, which
// its handshake tells, and what the plug-in is told in PLUGIN_CLIENT_CERT.
func MutualTLS() (config *tls.Config, text []byte, err error) { return mutualTLS() }

// Program is a plug-in's file: it is looked for once, and what is checked is what is run.
type Program struct{ file *program }

// Open looks for a program that can be run.
func Open(path string) (Program, error) {
	p, err := open(path)
	return Program{p}, err
}

// Pin holds the program against a checksum, and sees to it that nobody changes it any more.
func (p Program) Pin(sha256 string) error { return p.file.checksum(sha256) }

// SHA256 returns the checksum in hexadecimal.
func (p Program) SHA256() (string, error) { return p.file.sum() }

// Command is what runs the program.
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

// Serve answers what a plug-in asks for. The error, which wraps [ErrNonsense], says what is
// wrong with the request.
func Serve(m *protocol.FromPlugin, memory target.Memory, modules *target.Modules) (*protocol.FromHost, error) {
	x := session{about: &asked{memory: memory, modules: modules}}
	return x.serve(m)
}

// Describe checks what a plug-in says of itself. The error, which wraps [ErrNonsense], says
// what is wrong with that.
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
