package java

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// layout says where the virtual machine has what is needed for names of frames.
type layout struct {
	tables *vmstructs.Tables
	blobs  vmstructs.CodeCache
	code   *vmstructs.Interpreter
	parked vmstructs.Continuations

	constMethod, access vmstructs.Field // of a Method

	// Of a ConstMethod. The bytecodes lie behind it, and the table of lines behind these.
	pool, words, codeSize, name, flags vmstructs.Field
	constMethodBytes                   uint64
	hasLines                           int64 // the flag

	holder, poolLength, source vmstructs.Field // of a ConstantPool; source may be the holder's
	poolBytes                  uint64
	sourceInHolder             bool
	className                  vmstructs.Field
	anonymous                  anonymousLayout
	symbolLength, symbolBody   vmstructs.Field

	blobName vmstructs.Field
	callStub vmstructs.Field // its offset is 0 if that is not known
	compiled compiledLayout

	// Where variables are. Frames can be read without.
	tablesOf  tablesLayout
	locations locations
	oops      vmstructs.Field // where a compiled method has its references
	slots     slotsOfFrame    // of interpreted frames
}

// compiledLayout says where a compiled method, an nmethod, has its debug information. Which of
// these a release has differs.
type compiledLayout struct {
	method           vmstructs.Field
	number, entryBCI vmstructs.Field // tell compilations apart; their sizes are 0 if that is not known

	pcs, pcsEnd, scopes, metadata vmstructs.Field
	immutable                     vmstructs.Field // from which pcs, pcsEnd and scopes count; else the nmethod
	scopesAt                      bool            // scopes is an address
	data                          vmstructs.Field // from which metadata counts, distance from the nmethod; 0 if from the nmethod
	mutable                       vmstructs.Field // from which metadata counts, an address; 0 if not

	pcDesc            uint64 // bytes
	pcOffset, pcScope vmstructs.Field
	pcObjects         vmstructs.Field // its size is 0 if that is not known
	originalPC        vmstructs.Field // where the frame has the PC, if it was marked to be taken apart
	handlers          [2]vmstructs.Field
	handlerAt         bool  // they are addresses
	least             uint8 // what each byte of a compressed number has added
}

// layOut takes what is needed from the tables of a release.
func layOut(t *vmstructs.Tables, a *arch.Arch, release int) (*layout, error) {
	n := vmstructs.Needed{Tables: t}
	l := &layout{tables: t, blobs: n.CodeCache(), code: n.Interpreter(), parked: n.Continuations()}
	l.constMethod, l.access = n.Field("Method::_constMethod"), n.Number("Method::_access_flags")

	l.pool, l.words = n.Field("ConstMethod::_constants"), n.Number("ConstMethod::_constMethod_size")
	l.codeSize, l.name = n.Number("ConstMethod::_code_size"), n.Number("ConstMethod::_name_index")
	l.flags = n.Number("ConstMethod::_flags", "ConstMethod::_flags._flags")
	l.constMethodBytes = n.Bytes("ConstMethod")
	for _, name := range [...]string{"ConstMethod::_has_linenumber_table", "ConstMethodFlags::_misc_has_linenumber_table"} {
		if flag, ok := t.Constants[name]; ok {
			l.hasLines = flag
		}
	}
	if l.hasLines == 0 {
		n.Lacks("ConstMethod::_has_linenumber_table")
	}

	l.holder, l.poolLength = n.Field("ConstantPool::_pool_holder"), n.Number("ConstantPool::_length")
	l.poolBytes = n.Bytes("ConstantPool")
	l.source = n.Number("ConstantPool::_source_file_name_index", "InstanceKlass::_source_file_name_index")
	_, l.sourceInHolder = t.Fields["InstanceKlass::_source_file_name_index"]
	l.className = n.Field("Klass::_name")
	l.symbolLength, l.symbolBody = n.Number("Symbol::_length"), n.Field("Symbol::_body", "Symbol::_body[0]")

	l.anonymous = layOutAnonymous(t, release)
	l.blobName = n.Field("CodeBlob::_name")
	l.callStub = t.Fields["StubRoutines::_call_stub_return_address"]
	l.compiled = layOutCompiled(&n)
	if release >= 20 {
		l.compiled.least = 1
	}
	l.tablesOf, l.locations, l.slots = layOutTables(t), layOutLocations(t), slotsOf(a, release)
	if l.oops = t.Fields["nmethod::_oops_offset"]; l.oops.Size == 0 {
		l.oops = t.Fields["CodeBlob::_data_offset"] // from 23 on
	}
	return l, n.Err()
}

func layOutCompiled(n *vmstructs.Needed) (c compiledLayout) {
	c.method = n.Field("nmethod::_method", "CompiledMethod::_method")
	c.number, c.entryBCI = n.Fields["nmethod::_compile_id"], n.Fields["nmethod::_entry_bci"]
	c.pcs = n.Number("nmethod::_scopes_pcs_offset")
	_, split := n.Fields["nmethod::_immutable_data"]
	_, at := n.Fields["CompiledMethod::_scopes_data_begin"]
	metadata, known := n.Fields["nmethod::_metadata_offset"]
	switch {
	case split: // from 23 on
		c.immutable = n.Field("nmethod::_immutable_data")
		c.scopes = n.Number("nmethod::_scopes_data_offset")
		c.pcsEnd = c.scopes
		if known {
			c.data = n.Number("CodeBlob::_data_offset")
		} else { // from 25 on
			c.mutable = n.Field("CodeBlob::_mutable_data")
			metadata = n.Number("CodeBlob::_relocation_size")
		}
	case at: // 9 to 22
		c.scopes, c.scopesAt = n.Field("CompiledMethod::_scopes_data_begin"), true
		c.pcsEnd = n.Number("nmethod::_dependencies_offset")
	default:
		c.scopes = n.Number("nmethod::_scopes_data_offset")
		c.pcsEnd = n.Number("nmethod::_dependencies_offset")
	}
	if c.metadata = metadata; metadata.Size == 0 {
		n.Lacks("nmethod::_metadata_offset")
	}
	c.pcDesc = n.Bytes("PcDesc")
	c.pcOffset, c.pcScope = n.Number("PcDesc::_pc_offset"), n.Number("PcDesc::_scope_decode_offset")
	c.pcObjects = n.Fields["PcDesc::_obj_decode_offset"]
	c.originalPC = n.Number("nmethod::_orig_pc_offset")
	for i, names := range [][]string{
		{"CompiledMethod::_deopt_handler_begin", "nmethod::_deopt_handler_entry_offset", "nmethod::_deopt_handler_offset", "nmethod::_deoptimize_offset"},
		{"CompiledMethod::_deopt_mh_handler_begin", "nmethod::_deopt_mh_handler_offset", "nmethod::_deoptimize_mh_offset"},
	} {
		for j, name := range names {
			if f, ok := n.Fields[name]; ok {
				c.handlers[i], c.handlerAt = f, j == 0
			}
		}
	}
	return c
}
