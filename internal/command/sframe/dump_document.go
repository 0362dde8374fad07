package sframe

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
)

// sectionItem is a section of what `sfwalk sframe dump --json` prints;
// docs/json.md describes it. Fields are added, never renamed. Its FDEs follow
// one by one: a section may be large.
type sectionItem struct {
	Name       string      `json:"name"`
	Address    address.Hex `json:"address"`
	Size       int         `json:"size"`
	Version    uint8       `json:"version"`
	Flags      []string    `json:"flags"`
	RawFlags   uint8       `json:"raw_flags"`
	ABI        namedItem   `json:"abi"`
	BigEndian  bool        `json:"big_endian"`
	FixedFP    int8        `json:"cfa_fixed_fp_offset"`
	FixedRA    int8        `json:"cfa_fixed_ra_offset"`
	AuxHeader  string      `json:"auxiliary_header"`
	NumFDEs    uint32      `json:"num_fdes"`
	NumFREs    uint32      `json:"num_fres"`
	FRELen     uint32      `json:"fre_len"`
	FDEOff     uint32      `json:"fdeoff"`
	FREOff     uint32      `json:"freoff"`
	FDEAddress address.Hex `json:"fdes_address"`
	FREAddress address.Hex `json:"fres_address"`
}

// namedItem is a number and what the specification calls it.
type namedItem struct {
	Value uint8  `json:"value"`
	Name  string `json:"name"`
}

// fdeItem is followed by its FREs, one by one, and by its error if there is one.
type fdeItem struct {
	Index    int         `json:"index"`
	Address  address.Hex `json:"address"` // of the FDE itself
	Start    address.Hex `json:"start"`
	Size     uint32      `json:"size"`
	FREOff   uint32      `json:"start_fre_off"`
	NumFREs  uint32      `json:"num_fres"`
	Info     *uint8      `json:"info,omitempty"`
	Info2    *uint8      `json:"info2,omitempty"`
	FREType  namedItem   `json:"fre_type"`
	PCType   namedItem   `json:"pc_type"`
	FDEType  namedItem   `json:"fde_type"`
	PauthKey namedItem   `json:"pauth_key"`
	Signal   bool        `json:"signal"`
	RepSize  uint8       `json:"rep_size"`
}

type freItem struct {
	Address   address.Hex `json:"address"` // of the FRE itself
	Offset    uint32      `json:"offset"`
	PC        address.Hex `json:"pc"` // null: the offset repeats block by block
	Info      uint8       `json:"info"`
	BaseSP    bool        `json:"base_sp"`
	MangledRA bool        `json:"mangled_ra"`
	WordSize  int         `json:"word_size"`
	Words     []int32     `json:"words"`
	CFA       *ruleItem   `json:"cfa"`
	RA        *ruleItem   `json:"ra"`
	FP        *ruleItem   `json:"fp"`
	Error     string      `json:"error,omitempty"`
}

type ruleItem struct {
	Kind     string  `json:"kind"`
	Register *uint16 `json:"register,omitempty"`
	Offset   *int32  `json:"offset,omitempty"`
	Text     string  `json:"text"`
}

func newRuleItem(r sframe.Rule) *ruleItem {
	item := &ruleItem{Kind: r.Kind.String(), Text: r.String()}
	switch r.Kind {
	case sframe.RuleInReg, sframe.RuleSavedAt:
		item.Register, item.Offset = &r.Reg, &r.Off
	case sframe.RuleSaved, sframe.RuleValue:
		item.Offset = &r.Off
	}
	return item
}

// usualExpansion bounds the document of sections of more than 1 MB: it may have so many bytes for
// each further one of theirs, unless --max-size says otherwise. What compilers write takes some
// fifty.
const usualExpansion = 128

// dumpJSON prints the document, of most bytes, about (0: the usual bound). Its error is about the
// first FDE or FRE of each section that cannot be read; the document has all of them.
func dumpJSON(w *bufio.Writer, file string, sections []object.Section, most int64) error {
	if most == 0 {
		size := int64(0)
		for _, s := range sections {
			size += int64(len(s.Data))
		}
		most = cmdline.UsualText + usualExpansion*max(0, size-1<<20)
	}
	d := &jsonDumper{Writer: w, most: most, left: most}
	d.WriteString(`{"file":`)
	d.value(file)
	d.WriteString(`,"sections":[`)
	var errs []error
	for i, s := range sections {
		if i > 0 {
			d.WriteByte(',')
		}
		errs = append(errs, d.section(s))
		if d.cut() != nil {
			break
		}
	}
	d.WriteByte(']')
	if err := d.cut(); err != nil {
		d.WriteString(`,"error":`)
		d.value(err.Error())
		errs = append(errs, err)
	}
	d.WriteString("}\n")
	return errors.Join(errs...)
}

// A jsonDumper prints a document piece by piece: what it holds at a time does
// not grow with the section.
type jsonDumper struct {
	*bufio.Writer
	most, left int64 // bytes
}

// cut returns what to say if no more is to be printed.
func (d *jsonDumper) cut() error {
	if d.left >= 0 {
		return nil
	}
	return fmt.Errorf("FDEs are left out beyond %d MiB of text: allow more by --max-size SIZE", d.most>>20)
}

func (d *jsonDumper) value(v any) {
	d.text(marshal(v))
}

// open prints an object but for its closing brace.
func (d *jsonDumper) open(v any) {
	text := marshal(v)
	d.text(text[:len(text)-1])
}

func (d *jsonDumper) text(text []byte) {
	d.left -= int64(len(text))
	d.Write(text)
}

// marshal writes an item, in which there is nothing that JSON cannot hold.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func (d *jsonDumper) section(s object.Section) (first error) {
	d.open(newSectionItem(s))
	d.WriteString(`,"fdes":[`)
	left := int64(s.FRELen) / 2 // an FRE has at least two bytes; FDEs that share some must not make more of them
	for f, err := range s.FDEs() {
		if d.cut() != nil {
			break
		}
		if f.Index > 0 {
			d.WriteByte(',')
		}
		d.WriteByte('\n')
		if err == nil {
			if n := int64(f.NumFREs); n > left {
				err = fmt.Errorf("sframe: FDE %d: %d FREs, but there is room for %d at most: FDEs share FREs", f.Index, n, left)
			} else {
				left -= n
			}
		}
		if err = d.fde(s, f, err); first == nil {
			first = err
		}
	}
	d.WriteString("]}")
	return first
}

// fde prints an FDE, whose FREs are left out if it has an error already, and
// returns the first error in it.
func (d *jsonDumper) fde(s object.Section, f sframe.FDE, first error) error {
	d.open(newFDEItem(s, f))
	d.WriteString(`,"fres":[`)
	var cut error
	if first == nil {
		addr := freAddr(s) + uint64(f.FREOff)
		if s.Version == sframe.V3 {
			addr += attrSize
		}
		comma := ""
		for e, err := range s.FREs(f) {
			if cut = d.cut(); cut != nil {
				break
			}
			d.WriteString(comma)
			comma = ","
			item := newFREItem(s, f, e)
			item.Address = address.At(addr)
			if err != nil {
				item.Error = err.Error()
				first = cmp.Or(first, err)
			}
			d.value(item)
			addr += 1<<f.FREType + 1 + uint64(len(e.Words))
		}
	}
	d.WriteByte(']')
	if err := cmp.Or(first, cut); err != nil {
		d.WriteString(`,"error":`)
		d.value(err.Error())
	}
	d.WriteByte('}')
	return first
}

// attrSize is the size of an FDE's attribute, which V3 has before its FREs.
const attrSize = 5

// freAddr returns the address of the FRE sub-section.
func freAddr(s object.Section) uint64 {
	return s.FDEAddr(0) - uint64(s.FDEOff) + uint64(s.FREOff)
}

func newSectionItem(s object.Section) sectionItem {
	flags := []string{}
	if s.Flags != 0 {
		flags = strings.Split(s.Flags.String(), "|")
	}
	return sectionItem{
		Name: s.Name, Address: address.At(s.Addr), Size: len(s.Data),
		Version: uint8(s.Version), Flags: flags, RawFlags: uint8(s.Flags),
		ABI: namedItem{uint8(s.ABI), s.ABI.String()}, BigEndian: s.ByteOrder == binary.BigEndian,
		FixedFP: s.FixedFP, FixedRA: s.FixedRA, AuxHeader: fmt.Sprintf("%x", s.AuxHeader),
		NumFDEs: s.NumFDEs, NumFREs: s.NumFREs, FRELen: s.FRELen, FDEOff: s.FDEOff, FREOff: s.FREOff,
		FDEAddress: address.At(s.FDEAddr(0)), FREAddress: address.At(freAddr(s)),
	}
}

func newFDEItem(s object.Section, f sframe.FDE) fdeItem {
	item := fdeItem{
		Index: f.Index, Address: address.At(s.FDEAddr(f.Index)), Start: address.At(f.Start), Size: f.Size, FREOff: f.FREOff, NumFREs: f.NumFREs,
		FREType: namedItem{uint8(f.FREType), f.FREType.String()}, PCType: namedItem{uint8(f.PCType), f.PCType.String()},
		FDEType: namedItem{uint8(f.Type), f.Type.String()}, PauthKey: namedItem{uint8(f.PauthKey), f.PauthKey.String()},
		Signal: f.Signal, RepSize: f.RepSize,
	}
	if s.Version != sframe.V3 {
		item.Info = &s.Data[s.FDEAddr(f.Index)-s.Addr+16]
	} else if uint64(f.FREOff)+attrSize <= uint64(s.FRELen) {
		attr := s.Data[freAddr(s)-s.Addr+uint64(f.FREOff):]
		item.Info, item.Info2 = &attr[2], &attr[3]
	}
	return item
}

func newFREItem(s object.Section, f sframe.FDE, e sframe.FRE) freItem {
	item := freItem{
		Offset: e.Offset, PC: address.If(f.Start+uint64(e.Offset), f.PCType == sframe.PCInc),
		Info: uint8(e.Info), BaseSP: e.Info.BaseSP(), MangledRA: e.Info.MangledRA(), WordSize: e.Info.WordSize(),
		Words: []int32{}, CFA: newRuleItem(e.CFA), RA: newRuleItem(e.RA), FP: newRuleItem(e.FP),
	}
	for p := e.Words; len(p) > 0; p = p[item.WordSize:] {
		item.Words = append(item.Words, word(s.ByteOrder, p, item.WordSize))
	}
	return item
}

// word reads a data word as a signed number.
func word(order binary.ByteOrder, p []byte, size int) int32 {
	switch size {
	case 1:
		return int32(int8(p[0]))
	case 2:
		return int32(int16(order.Uint16(p)))
	}
	return int32(order.Uint32(p))
}
