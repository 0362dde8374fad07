package sframe

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
)

// verifyDocument is what `sfwalk sframe verify --json` prints; docs/json.md
// describes it. Fields are added, never renamed.
type verifyDocument struct {
	File          string             `json:"file"`
	ABI           string             `json:"abi"`
	Versions      []int              `json:"versions"`
	Agree         bool               `json:"agree"`
	Disagreements []disagreementItem `json:"disagreements"`
	Dropped       int                `json:"dropped,omitempty"`
	Problems      []string           `json:"problems"`
	Compared      uint64             `json:"compared"`
	Unsaid        uint64             `json:"unsaid"`
	SFrameFDEs    uint64             `json:"sframe_fdes"`
	DWARFFDEs     uint64             `json:"dwarf_fdes"`
	Bytes         coverageItem       `json:"bytes"`
	Functions     coverageItem       `json:"functions"`
	Sizes         struct {
		SFrame     uint64 `json:"sframe"`
		EHFrame    uint64 `json:"eh_frame"`
		EHFrameHdr uint64 `json:"eh_frame_hdr"`
		DebugFrame uint64 `json:"debug_frame"`
	} `json:"sizes"`
}

type disagreementItem struct {
	Lo       string   `json:"lo"`
	Hi       string   `json:"hi"`
	Function string   `json:"function"`
	Offset   uint64   `json:"offset"`
	Differs  []string `json:"differs"`
	SFrame   rowItem  `json:"sframe"`
	DWARF    rowItem  `json:"dwarf"`
	FDE      int      `json:"fde"`
	Times    int      `json:"times"`
}

type rowItem struct {
	CFA       string `json:"cfa"`
	RA        string `json:"ra"`
	FP        string `json:"fp"`
	Outermost bool   `json:"outermost"`
	Signal    bool   `json:"signal"`
	MangledRA bool   `json:"mangled_ra"`
	KeyB      bool   `json:"key_b"`
	Reason    string `json:"reason,omitempty"`
}

type coverageItem struct {
	Total      uint64 `json:"total"`
	Both       uint64 `json:"both"`
	SFrameOnly uint64 `json:"sframe_only"`
	DWARFOnly  uint64 `json:"dwarf_only"`
	Neither    uint64 `json:"neither"`
}

func newCoverageItem(c sframeverify.Coverage) coverageItem {
	return coverageItem{c.Total, c.Both, c.SFrameOnly, c.CFIOnly, c.Neither}
}

func newVerifyDocument(file string, r *sframeverify.Result) *verifyDocument {
	d := &verifyDocument{
		File: file, ABI: r.ABI.String(), Agree: len(r.Disagreements) == 0,
		Versions: []int{}, Disagreements: []disagreementItem{}, Problems: []string{},
		Dropped: r.Dropped, Compared: r.Compared, Unsaid: r.Unsaid, SFrameFDEs: r.SFrameFDEs, DWARFFDEs: r.CFIFDEs,
		Bytes: newCoverageItem(r.Bytes), Functions: newCoverageItem(r.Functions),
	}
	for _, v := range r.Versions {
		d.Versions = append(d.Versions, int(v))
	}
	for _, p := range r.Problems {
		d.Problems = append(d.Problems, p.Error())
	}
	d.Sizes.SFrame, d.Sizes.EHFrame = r.Sizes.SFrame, r.Sizes.EHFrame
	d.Sizes.EHFrameHdr, d.Sizes.DebugFrame = r.Sizes.EHFrameHdr, r.Sizes.DebugFrame
	row := func(x *sframe.Row, reason string) rowItem {
		return rowItem{
			CFA: ruleText(r.ABI, x.CFA), RA: ruleText(r.ABI, x.RA), FP: ruleText(r.ABI, x.FP),
			Outermost: x.Flags&sframe.RowOutermost != 0, Signal: x.Flags&sframe.RowSignal != 0,
			MangledRA: x.Flags&sframe.RowMangledRA != 0, KeyB: x.Flags&sframe.RowPauthB != 0,
			Reason: reason,
		}
	}
	for i := range r.Disagreements {
		x := &r.Disagreements[i]
		d.Disagreements = append(d.Disagreements, disagreementItem{
			Lo: fmt.Sprintf("%#x", x.Lo), Hi: fmt.Sprintf("%#x", x.Hi), Function: x.Function, Offset: x.Offset,
			Differs: x.Fields.Names(), SFrame: row(&x.SFrame, ""), DWARF: row(&x.CFI.Row, x.CFI.Reason),
			FDE: x.FDE, Times: x.Times,
		})
	}
	return d
}
