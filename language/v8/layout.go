package v8

import "fmt"

// layout says where V8's objects have their fields, in bytes from the beginning of an object.
type layout struct {
	major, minor int    // V8's release
	packed       bool   // values in objects have 32 bits
	word         uint64 // bytes of a value in an object

	mapType, mapBits2, mapBits3    uint64
	mapPrototype, mapConstructor   uint64
	mapDescriptors, mapInObject    uint64
	mapWords                       uint64
	functionShared, functionData   uint64 // of JSFunction and SharedFunctionInfo
	sharedName, sharedScript       uint64
	sharedFlags                    uint64
	scriptSource, scriptName       uint64
	scriptEnds, scriptLine         uint64
	scriptColumn, scriptID         uint64
	scriptType                     uint64
	uncompiledStart, uncompiledEnd uint64
	uncompiledName                 uint64
	scopeFirst                     uint64 // index of the first variable part of a ScopeInfo

	bytecodes, bytecodeLength uint64 // of BytecodeArray
	arrayLength, array        uint64

	objectProperties, descriptors uint64
	dictionaryFirst, oddballKind  uint64

	stringLength, chars        uint64
	consFirst, consSecond      uint64
	slicedParent, slicedOffset uint64
	thinActual, externalData   uint64

	codeEntry, codeShift uint64 // of the table of code: bytes of an entry, which ends with the code's address

	threadLocal uint64 // bytes of each thread's own variables, before its thread pointer

	types instanceTypes
	kinds frameTypes
	release
	async   *asyncLayout // nil if it is not known
	noAsync error        // why
}

// instanceTypes are numbers of kinds of objects.
type instanceTypes struct {
	notString                                  uint16 // all below are strings
	function, functionEnd                      uint16 // [function, functionEnd)
	shared, script, scopeInfo, bytecodeArray   uint16
	interpreterData, code, instructions, fixed uint16
	byteArray, protectedFixed, trustedFixed    uint16
	trustedBytes                               uint16
	uncompiled                                 [4]uint16
	oddball, proxy, globalProxy, regExp        uint16
	context, contextEnd, template              uint16
	symbol, heapNumber                         uint16
	foreign, trustedForeign                    uint16
	wasmModule, wasmInstance                   uint16
	receiver, accessors, meta, tuple           uint16 // all from receiver on are objects of JavaScript
}

// noType stands for a type that a release does not tell.
const noType = 1<<16 - 1

// frameTypes are the marks of frames that are no functions of JavaScript.
type frameTypes struct {
	entry, constructEntry, builtinExit, construct, fastConstruct int64
	wasm, regExp, builtin, internal, wasmToJS, jsToWasm          int64
	most                                                         int64 // the greatest one
}

// layOut returns the layout of V8's objects. It returns none if a part of it is not known.
func layOut(c *constants) (*layout, error) {
	if c.of("TaggedSize") != 8 || c.of("SmiValueShift") != 1 || c.of("SmiShiftSize") != 31 {
		if c.lacks == "" {
			return nil, errPacked
		}
	}
	field := func(names ...string) uint64 { return uint64(c.of(names...)) }
	kind := func(names ...string) uint16 { return uint16(c.of(names...)) }
	major, minor := c.release()
	l := &layout{
		major: major, minor: minor, word: 8,
		mapType: field("class_Map__instance_type__uint16_t"), mapBits2: field("class_Map__bit_field2__char"), mapBits3: field("class_Map__bit_field3__int"),
		mapPrototype: field("class_Map__prototype__Object"), mapConstructor: field("class_Map__constructor_or_back_pointer__Object", "class_Map__constructor_or_back_pointer__Tagged_Object_"),
		mapDescriptors: field("class_Map__instance_descriptors_offset"), mapInObject: field("class_Map__inobject_properties_start_or_constructor_function_index__char"),
		mapWords:       field("class_Map__instance_size_in_words__char"),
		functionShared: field("class_JSFunction__shared__SharedFunctionInfo"),
		functionData:   8,
		sharedName: field("class_SharedFunctionInfo__name_or_scope_info__Object", "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
			"class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_"),
		sharedScript: field("class_SharedFunctionInfo__script_or_debug_info__HeapObject", "class_SharedFunctionInfo__script__Tagged_HeapObject_"),
		sharedFlags:  field("class_SharedFunctionInfo__flags__int"),
		scriptSource: field("class_Script__source__Object"), scriptName: field("class_Script__name__Object"), scriptEnds: field("class_Script__line_ends__Object"),
		scriptLine: 24, scriptColumn: 32, scriptType: 48, scriptID: 64,
		uncompiledStart: field("class_UncompiledData__start_position__int32_t"), uncompiledEnd: field("class_UncompiledData__end_position__int32_t"),
		uncompiledName: field("class_UncompiledData__inferred_name__String"),
		scopeFirst:     field("scopeinfo_idx_first_vars"),
		bytecodes:      field("class_BytecodeArray__data__uintptr_t"),
		bytecodeLength: 8, arrayLength: 8, array: field("class_FixedArray__data__uintptr_t"),
		objectProperties: field("class_JSReceiver__raw_properties_or_hash__Object", "class_JSReceiver__raw_properties_or_hash__Tagged_Object_"),
		descriptors:      field("class_DescriptorArray__header_size__uintptr_t"), dictionaryFirst: field("namedictionary_prefix_start_index") + field("namedictionaryshape_prefix_size"),
		oddballKind:  field("class_Oddball__kind_offset__int", "class_Oddball__kind__int"),
		stringLength: field("class_String__length__int32_t"), chars: field("class_SeqOneByteString__chars__char"),
		consFirst: field("class_ConsString__first__String"), consSecond: field("class_ConsString__second__String"),
		slicedParent: field("class_SlicedString__parent__String"), slicedOffset: field("class_SlicedString__offset__SMI"),
		thinActual: field("class_ThinString__actual__String"), externalData: field("class_ExternalString__resource__Object") + 8,
		types: instanceTypes{
			notString: kind("FirstNonstringType"), function: kind("FirstJSFunctionType", "type_JSFunction__JS_FUNCTION_TYPE"),
			shared: kind("type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"), script: kind("type_Script__SCRIPT_TYPE"), scopeInfo: kind("type_ScopeInfo__SCOPE_INFO_TYPE"),
			bytecodeArray: kind("type_BytecodeArray__BYTECODE_ARRAY_TYPE"), interpreterData: kind("type_InterpreterData__INTERPRETER_DATA_TYPE"),
			code: kind("type_Code__CODE_TYPE"), instructions: kind("type_InstructionStream__INSTRUCTION_STREAM_TYPE", "type_Code__CODE_TYPE"),
			fixed: kind("type_FixedArray__FIXED_ARRAY_TYPE"), byteArray: kind("type_ByteArray__BYTE_ARRAY_TYPE"),
			protectedFixed: kind("type_ProtectedFixedArray__PROTECTED_FIXED_ARRAY_TYPE", "type_FixedArray__FIXED_ARRAY_TYPE"),
			trustedFixed:   kind("type_TrustedFixedArray__TRUSTED_FIXED_ARRAY_TYPE", "type_FixedArray__FIXED_ARRAY_TYPE"),
			trustedBytes:   kind("type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE", "type_ByteArray__BYTE_ARRAY_TYPE"),
			uncompiled: [4]uint16{
				kind("type_UncompiledDataWithPreparseData__UNCOMPILED_DATA_WITH_PREPARSE_DATA_TYPE"),
				kind("type_UncompiledDataWithoutPreparseData__UNCOMPILED_DATA_WITHOUT_PREPARSE_DATA_TYPE"),
				kind("type_UncompiledDataWithPreparseDataAndJob__UNCOMPILED_DATA_WITH_PREPARSE_DATA_AND_JOB_TYPE"),
				kind("type_UncompiledDataWithoutPreparseDataWithJob__UNCOMPILED_DATA_WITHOUT_PREPARSE_DATA_WITH_JOB_TYPE"),
			},
			oddball: kind("type_Oddball__ODDBALL_TYPE"), proxy: kind("type_JSProxy__JS_PROXY_TYPE"), globalProxy: kind("type_JSGlobalProxy__JS_GLOBAL_PROXY_TYPE"),
			regExp: kind("type_JSRegExp__JS_REG_EXP_TYPE"), context: kind("FirstContextType"), contextEnd: kind("LastContextType") + 1,
			template: kind("type_FunctionTemplateInfo__FUNCTION_TEMPLATE_INFO_TYPE"),
			symbol:   kind("type_Symbol__SYMBOL_TYPE"), heapNumber: kind("type_HeapNumber__HEAP_NUMBER_TYPE"),
			receiver:  kind("type_JSProxy__JS_PROXY_TYPE"),
			accessors: kind("type_AccessorPair__ACCESSOR_PAIR_TYPE"), meta: kind("type_Map__MAP_TYPE"), tuple: kind("type_Tuple2__TUPLE2_TYPE"),
		},
		kinds: frameTypes{
			entry: c.of("frametype_EntryFrame"), constructEntry: c.of("frametype_ConstructEntryFrame"), builtinExit: c.of("frametype_BuiltinExitFrame"),
			construct: c.of("frametype_ConstructFrame"), fastConstruct: c.either(-1, "frametype_FastConstructFrame"), wasm: c.either(-1, "frametype_WasmFrame"),
			regExp: c.either(-1, "frametype_IrregexpFrame"), builtin: c.of("frametype_BuiltinFrame"), internal: c.of("frametype_InternalFrame"),
			wasmToJS: c.either(-1, "frametype_WasmToJsFrame"), jsToWasm: c.either(-1, "frametype_JsToWasmFrame"),
		},
	}
	t := &l.types
	t.foreign = uint16(c.either(noType, "type_Foreign__FOREIGN_TYPE"))
	t.trustedForeign = uint16(c.either(noType, "type_TrustedForeign__TRUSTED_FOREIGN_TYPE"))
	t.wasmModule = uint16(c.either(noType, "type_WasmModuleObject__WASM_MODULE_OBJECT_TYPE"))
	t.wasmInstance = uint16(c.either(noType, "type_WasmInstanceObject__WASM_INSTANCE_OBJECT_TYPE"))
	l.types.functionEnd = uint16(c.either(int64(l.types.function)+17, "LastJSFunctionType")) + 1
	k := &l.kinds
	k.most = max(k.entry, k.constructEntry, k.builtinExit, k.construct, k.fastConstruct, k.wasm, k.regExp, k.builtin, k.internal, k.wasmToJS, k.jsToWasm) + 8
	if c.lacks != "" {
		return nil, fmt.Errorf("V8 %d.%d does not tell %s", major, minor, c.lacks)
	}
	known, err := releaseOf(l.major, l.minor)
	if err != nil {
		return nil, err
	}
	l.release = *known
	l.baseline = int(c.of("CodeKindBaseline"))
	if c.version != nil && c.version.packed {
		l.pack()
	}
	return l, nil
}

// atLeast reports whether it is the layout of a release, or of a later one.
func (l *layout) atLeast(major, minor int) bool {
	return l.major > major || l.major == major && l.minor >= minor
}
