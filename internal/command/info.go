package command

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
)

// frameInfo is what gdb's info frame shows, beside what a [frameEntry] has.
type frameInfo struct {
	SavedPC    hex        `json:"saved_pc"`
	CalledBy   hex        `json:"called_by"`
	CallerOf   hex        `json:"caller_of"`
	Language   string     `json:"language"`
	Base       hex        `json:"base"`
	Args       hex        `json:"args"`
	Locals     hex        `json:"locals"`
	BaseOf     string     `json:"base_sniffer"`
	PreviousSP hex        `json:"previous_sp"`
	Saved      []savedReg `json:"saved_registers"`
}

// savedReg is a register of PREVIOUS that THIS has saved.
type savedReg struct {
	Name    string `json:"name"`
	Address hex    `json:"address"`
}

func newFrameInfo(info *logical.Info) frameInfo {
	x := frameInfo{
		SavedPC: known(info.SavedPC), CalledBy: stackOf(info.CalledBy), CallerOf: stackOf(info.CallerOf),
		Language: info.Language, PreviousSP: known(info.PreviousSP),
		Base: hex{info.Base.Addr, info.Base.Err == nil}, BaseOf: info.Base.Sniffer,
		Args: hex{info.Args.Addr, info.Args.Err == nil}, Locals: hex{info.Locals.Addr, info.Locals.Err == nil},
		Saved: make([]savedReg, 0, len(info.Saved)),
	}
	for _, r := range info.Saved {
		x.Saved = append(x.Saved, savedReg{r.Name, hex{r.Addr, true}})
	}
	return x
}

func known(v *uint64) hex {
	if v == nil {
		return hex{}
	}
	return hex{*v, true}
}

// stackOf returns the stack address of an ID.
func stackOf(id *frame.ID) hex {
	if id == nil || id.Has&frame.HasStack == 0 {
		return hex{}
	}
	return hex{id.Stack, true}
}

// lines returns the text for people: up to three lines. What is not known is left out.
func (x *frameInfo) lines() (list []string) {
	var parts []string
	add := func(format string, h hex) {
		if h.ok {
			parts = append(parts, fmt.Sprintf(format, h.v))
		}
	}
	end := func() {
		if len(parts) > 0 {
			list = append(list, strings.Join(parts, ", "))
		}
		parts = parts[:0]
	}
	add("saved pc %#x", x.SavedPC)
	add("called by frame at %#x", x.CalledBy)
	add("caller of frame at %#x", x.CallerOf)
	end()
	if x.Language != "" {
		parts = append(parts, "source language "+x.Language)
	}
	add("args at %#x", x.Args)
	add("locals at %#x", x.Locals)
	add("previous frame's sp is %#x", x.PreviousSP)
	end()
	for _, r := range x.Saved {
		add(r.Name+" at %#x", r.Address)
	}
	if len(parts) > 0 {
		parts[0] = "saved registers: " + parts[0]
	}
	end()
	return list
}
