package report

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/logical"
)

// frameInfo is what gdb's info frame shows, beside what a [Frame] has.
type frameInfo struct {
	SavedPC    address.Hex `json:"saved_pc"`
	CalledBy   address.Hex `json:"called_by"`
	CallerOf   address.Hex `json:"caller_of"`
	Language   string      `json:"language"`
	Base       address.Hex `json:"base"`
	Args       address.Hex `json:"args"`
	Locals     address.Hex `json:"locals"`
	BaseOf     string      `json:"base_sniffer"`
	PreviousSP address.Hex `json:"previous_sp"`
	Saved      []savedReg  `json:"saved_registers"`
}

// savedReg is a register of PREVIOUS that THIS has saved.
type savedReg struct {
	Name    string      `json:"name"`
	Address address.Hex `json:"address"`
}

func newFrameInfo(info *logical.Info) frameInfo {
	x := frameInfo{
		SavedPC: known(info.SavedPC), CalledBy: stackOf(info.CalledBy), CallerOf: stackOf(info.CallerOf),
		Language: info.Language, PreviousSP: known(info.PreviousSP),
		Base: address.If(info.Base.Addr, info.Base.Err == nil), BaseOf: info.Base.Sniffer,
		Args: address.If(info.Args.Addr, info.Args.Err == nil), Locals: address.If(info.Locals.Addr, info.Locals.Err == nil),
		Saved: make([]savedReg, 0, len(info.Saved)),
	}
	for _, r := range info.Saved {
		x.Saved = append(x.Saved, savedReg{r.Name, address.At(r.Addr)})
	}
	return x
}

func known(v *uint64) address.Hex {
	if v == nil {
		return address.Hex{}
	}
	return address.At(*v)
}

// stackOf returns the stack address of an ID.
func stackOf(id *frame.ID) address.Hex {
	if id == nil || id.Has&frame.HasStack == 0 {
		return address.Hex{}
	}
	return address.At(id.Stack)
}

// Lines returns the text for people: up to three lines. What is not known is left out.
func (x *frameInfo) Lines() (list []string) {
	var parts []string
	add := func(format string, h address.Hex) {
		if h.Known {
			parts = append(parts, fmt.Sprintf(format, h.V))
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
