package python

// field is a field of one of CPython's structures.
type field uint8

// Fields are named as in _Py_DebugOffsets of Python 3.15. Those that it lacks are named alike, by
// the structure and the field in CPython's headers.
const (
	runtimeInterpreters field = iota
	runtimeFinalizing
	interpreterID
	interpreterNext
	interpreterThreads
	threadSize
	threadPrev
	threadNext
	threadInterpreter
	threadFrame  // 3.13 on: the innermost _PyInterpreterFrame; up to 3.10 the innermost PyFrameObject
	threadCFrame // 3.11, 3.12
	threadID     // pthread_self(): on most processors the thread pointer
	threadNativeID
	cframeSize
	cframeFrame
	cframePrevious
	frameSize
	framePrevious
	frameExecutable // the code object; from 3.13 on also None and others
	frameInstr      // 3.11, 3.12: the code unit before the next instruction (prev_instr)
	frameLocals
	frameOwner
	frameIsEntry // 3.11
	frameTLBC    // free-threaded builds from 3.14 on
	codeSize
	codeFile
	codeName
	codeQualifiedName
	codeLines
	codeFirstLine
	codeArguments
	codeLocalsNames
	codeLocalsKinds
	codeInstructions
	codeTLBC
	objectType
	typeName
	bytesLength
	bytesData
	unicodeState
	unicodeLength
	unicodeASCIISize
	unicodeCompactSize
	fields
)

var fieldNames = [fields]string{
	runtimeInterpreters: "runtime_state.interpreters_head",
	runtimeFinalizing:   "runtime_state.finalizing",
	interpreterID:       "interpreter_state.id",
	interpreterNext:     "interpreter_state.next",
	interpreterThreads:  "interpreter_state.threads_head",
	threadSize:          "thread_state.size",
	threadPrev:          "thread_state.prev",
	threadNext:          "thread_state.next",
	threadInterpreter:   "thread_state.interp",
	threadFrame:         "thread_state.current_frame",
	threadCFrame:        "thread_state.cframe",
	threadID:            "thread_state.thread_id",
	threadNativeID:      "thread_state.native_thread_id",
	cframeSize:          "cframe.size",
	cframeFrame:         "cframe.current_frame",
	cframePrevious:      "cframe.previous",
	frameSize:           "interpreter_frame.size",
	framePrevious:       "interpreter_frame.previous",
	frameExecutable:     "interpreter_frame.executable",
	frameInstr:          "interpreter_frame.instr_ptr",
	frameLocals:         "interpreter_frame.localsplus",
	frameOwner:          "interpreter_frame.owner",
	frameIsEntry:        "interpreter_frame.is_entry",
	frameTLBC:           "interpreter_frame.tlbc_index",
	codeSize:            "code_object.size",
	codeFile:            "code_object.filename",
	codeName:            "code_object.name",
	codeQualifiedName:   "code_object.qualname",
	codeLines:           "code_object.linetable",
	codeFirstLine:       "code_object.firstlineno",
	codeArguments:       "code_object.argcount",
	codeLocalsNames:     "code_object.localsplusnames",
	codeLocalsKinds:     "code_object.localspluskinds",
	codeInstructions:    "code_object.co_code_adaptive",
	codeTLBC:            "code_object.co_tlbc",
	objectType:          "pyobject.ob_type",
	typeName:            "type_object.tp_name",
	bytesLength:         "bytes_object.ob_size",
	bytesData:           "bytes_object.ob_sval",
	unicodeState:        "unicode_object.state",
	unicodeLength:       "unicode_object.length",
	unicodeASCIISize:    "unicode_object.asciiobject_size",
	unicodeCompactSize:  "unicode_object.compactunicodeobject_size",
}

// byName has the fields by their names.
var byName = func() map[string]field {
	m := make(map[string]field, fields)
	for f, name := range fieldNames {
		m[name] = field(f)
	}
	return m
}()
