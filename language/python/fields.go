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
	threadFrame       // 3.13 on: the innermost _PyInterpreterFrame
	threadCFrame      // 3.11, 3.12
	threadFrameObject // up to 3.10: the innermost PyFrameObject
	threadID          // pthread_self(): on most processors the thread pointer
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
	frameObjectBack
	frameObjectCode
	frameObjectState     // 3.10
	frameObjectExecuting // 3.8, 3.9
	frameObjectValues
	frameObjectTop   // 3.8, 3.9: behind the last value; 0 while it runs
	frameObjectDepth // 3.10: how many values there are
	codeCode         // up to 3.10: the object with the instructions
	generatorFrameObject
	generatorName
	frameObjectLast // the instruction that ran last (f_lasti): its number in 3.10, earlier bytes from the first one
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
	// What variables, threads and exceptions are made of.
	runtimeGIL // up to 3.11: the GIL, within _PyRuntime
	interpreterModules
	runtimeGeneration0 // 3.8: a pointer to the lists of the garbage collector
	runtimePermanent
	interpreterGeneration0 // 3.9 to 3.13
	interpreterGenerations // 3.14 on: the lists
	interpreterPermanent
	interpreterGIL // 3.12 on: a pointer to the GIL
	gilEnabled     // free-threaded builds
	gilLocked
	gilHolder // the thread state that holds it, or held it last
	gilCond
	gilMutex
	threadException      // 3.12 on
	threadExceptionType  // up to 3.11
	threadExceptionValue // up to 3.11
	threadHandled
	handledValue
	handledPrevious
	frameLocalsDict
	frameGlobals
	codeHandlers // 3.11 on
	codeFlags
	codeKeywordOnly
	codeNLocals
	codeNames // up to 3.10: the names of local variables
	codeCells // up to 3.10
	codeFree  // up to 3.10
	objectSize
	typeFlags
	typeBasicSize
	typeItemSize
	typeDictOffset
	typeBase
	typeMRO
	typeDict
	typeKeys
	typeQualifiedName
	managedDict // how far before the object
	tupleItems
	listItems
	varSize
	setUsed
	setTable
	setMask
	dictUsed
	dictKeys
	dictValues
	keysSize   // of the part before the indices
	keysLength // up to 3.10
	keysLogLength
	keysLogIndexBytes
	keysKind
	keysEntries
	valuesValid // 3.13 on
	valuesData
	floatValue
	longTag  // 3.12 on
	longSize // up to 3.11
	longDigits
	longDigitBits // not an offset
	bytearrayStart
	complexValue
	cellValue
	moduleDict
	generatorFrame
	generatorStateField
	frameStackTop     // 3.11 to 3.13: how many values there are in front of it, variables included
	frameStackPointer // 3.14 on
	methodSelf
	functionName
	exceptionArgs
	exceptionTraceback
	osErrorNumber
	osErrorText
	osErrorFile
	tracebackNext
	tracebackFrame
	tracebackLast // the instruction, bytes from the first one
	tracebackLine
	frameObjectFrame // 3.11 on
	unicodeBuffer    // of strings of subclasses of str
	objectBlocks     // up to 3.10
	objectBlockCount // up to 3.10
	objectLocals     // up to 3.10
	objectLocalsDict // up to 3.10
	objectGlobals    // up to 3.10
	fields
)

var fieldNames = [fields]string{
	runtimeInterpreters:    "runtime_state.interpreters_head",
	runtimeFinalizing:      "runtime_state.finalizing",
	interpreterID:          "interpreter_state.id",
	interpreterNext:        "interpreter_state.next",
	interpreterThreads:     "interpreter_state.threads_head",
	threadSize:             "thread_state.size",
	threadPrev:             "thread_state.prev",
	threadNext:             "thread_state.next",
	threadInterpreter:      "thread_state.interp",
	threadFrame:            "thread_state.current_frame",
	threadCFrame:           "thread_state.cframe",
	threadFrameObject:      "thread_state.frame",
	frameObjectBack:        "frame_object.back",
	frameObjectCode:        "frame_object.code",
	frameObjectState:       "frame_object.state",
	frameObjectExecuting:   "frame_object.executing",
	frameObjectValues:      "frame_object.valuestack",
	frameObjectTop:         "frame_object.stacktop",
	frameObjectDepth:       "frame_object.stackdepth",
	codeCode:               "code_object.code",
	generatorFrameObject:   "gen_object.gi_frame",
	generatorName:          "gen_object.qualname",
	frameObjectLast:        "frame_object.lasti",
	threadID:               "thread_state.thread_id",
	threadNativeID:         "thread_state.native_thread_id",
	cframeSize:             "cframe.size",
	cframeFrame:            "cframe.current_frame",
	cframePrevious:         "cframe.previous",
	frameSize:              "interpreter_frame.size",
	framePrevious:          "interpreter_frame.previous",
	frameExecutable:        "interpreter_frame.executable",
	frameInstr:             "interpreter_frame.instr_ptr",
	frameLocals:            "interpreter_frame.localsplus",
	frameOwner:             "interpreter_frame.owner",
	frameIsEntry:           "interpreter_frame.is_entry",
	frameTLBC:              "interpreter_frame.tlbc_index",
	codeSize:               "code_object.size",
	codeFile:               "code_object.filename",
	codeName:               "code_object.name",
	codeQualifiedName:      "code_object.qualname",
	codeLines:              "code_object.linetable",
	codeFirstLine:          "code_object.firstlineno",
	codeArguments:          "code_object.argcount",
	codeLocalsNames:        "code_object.localsplusnames",
	codeLocalsKinds:        "code_object.localspluskinds",
	codeInstructions:       "code_object.co_code_adaptive",
	codeTLBC:               "code_object.co_tlbc",
	objectType:             "pyobject.ob_type",
	typeName:               "type_object.tp_name",
	bytesLength:            "bytes_object.ob_size",
	bytesData:              "bytes_object.ob_sval",
	unicodeState:           "unicode_object.state",
	unicodeLength:          "unicode_object.length",
	unicodeASCIISize:       "unicode_object.asciiobject_size",
	unicodeCompactSize:     "unicode_object.compactunicodeobject_size",
	runtimeGIL:             "runtime_state.gil",
	interpreterModules:     "interpreter_state.imports_modules",
	runtimeGeneration0:     "runtime_state.gc_generation0",
	runtimePermanent:       "runtime_state.gc_permanent",
	interpreterGeneration0: "interpreter_state.gc_generation0",
	interpreterGenerations: "interpreter_state.gc_generations",
	interpreterPermanent:   "interpreter_state.gc_permanent",
	interpreterGIL:         "interpreter_state.ceval_gil",
	gilEnabled:             "gil.enabled",
	gilLocked:              "gil.locked",
	gilHolder:              "gil.last_holder",
	gilCond:                "gil.cond",
	gilMutex:               "gil.mutex",
	threadException:        "thread_state.current_exception",
	threadExceptionType:    "thread_state.curexc_type",
	threadExceptionValue:   "thread_state.curexc_value",
	threadHandled:          "thread_state.exc_info",
	handledValue:           "err_stackitem.exc_value",
	handledPrevious:        "err_stackitem.previous_item",
	frameLocalsDict:        "interpreter_frame.locals",
	frameGlobals:           "interpreter_frame.globals",
	codeHandlers:           "code_object.exceptiontable",
	codeFlags:              "code_object.flags",
	codeKeywordOnly:        "code_object.kwonlyargcount",
	codeNLocals:            "code_object.nlocals",
	codeNames:              "code_object.varnames",
	codeCells:              "code_object.cellvars",
	codeFree:               "code_object.freevars",
	objectSize:             "pyobject.size",
	typeFlags:              "type_object.tp_flags",
	typeBasicSize:          "type_object.tp_basicsize",
	typeItemSize:           "type_object.tp_itemsize",
	typeDictOffset:         "type_object.tp_dictoffset",
	typeBase:               "type_object.tp_base",
	typeMRO:                "type_object.tp_mro",
	typeDict:               "type_object.tp_dict",
	typeKeys:               "heap_type_object.ht_cached_keys",
	typeQualifiedName:      "heap_type_object.ht_qualname",
	managedDict:            "managed.dict",
	tupleItems:             "tuple_object.ob_item",
	listItems:              "list_object.ob_item",
	varSize:                "tuple_object.ob_size",
	setUsed:                "set_object.used",
	setTable:               "set_object.table",
	setMask:                "set_object.mask",
	dictUsed:               "dict_object.ma_used",
	dictKeys:               "dict_object.ma_keys",
	dictValues:             "dict_object.ma_values",
	keysSize:               "dict_keys.size",
	keysLength:             "dict_keys.dk_size",
	keysLogLength:          "dict_keys.log2_size",
	keysLogIndexBytes:      "dict_keys.log2_index_bytes",
	keysKind:               "dict_keys.kind",
	keysEntries:            "dict_keys.nentries",
	valuesValid:            "dict_values.valid",
	valuesData:             "dict_values.values",
	floatValue:             "float_object.ob_fval",
	longTag:                "long_object.lv_tag",
	longSize:               "long_object.ob_size",
	longDigits:             "long_object.ob_digit",
	longDigitBits:          "long_object.digit_bits",
	bytearrayStart:         "bytearray_object.ob_start",
	complexValue:           "complex_object.cval",
	cellValue:              "cell_object.ob_ref",
	moduleDict:             "module_object.md_dict",
	generatorFrame:         "gen_object.gi_iframe",
	generatorStateField:    "gen_object.gi_frame_state",
	frameStackTop:          "interpreter_frame.stacktop",
	frameStackPointer:      "interpreter_frame.stackpointer",
	methodSelf:             "method_object.self",
	functionName:           "function_object.qualname",
	exceptionArgs:          "exception_object.args",
	exceptionTraceback:     "exception_object.traceback",
	osErrorNumber:          "oserror_object.errno",
	osErrorText:            "oserror_object.strerror",
	osErrorFile:            "oserror_object.filename",
	tracebackNext:          "traceback_object.next",
	tracebackFrame:         "traceback_object.frame",
	tracebackLast:          "traceback_object.lasti",
	frameObjectFrame:       "frame_object.frame",
	tracebackLine:          "traceback_object.lineno",
	unicodeBuffer:          "unicode_object.data",
	objectBlocks:           "frame_object.blockstack",
	objectBlockCount:       "frame_object.iblock",
	objectLocals:           "frame_object.localsplus",
	objectLocalsDict:       "frame_object.locals",
	objectGlobals:          "frame_object.globals",
}

// byName has the fields by their names.
var byName = func() map[string]field {
	m := make(map[string]field, fields)
	for f, name := range fieldNames {
		m[name] = field(f)
	}
	return m
}()
