package php

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

// field is a field of PHP's structures, or a number of its sources.
type field int

const (
	releaseMinor field = iota
	globalsCurrent
	globalsException
	globalsOplineBefore
	globalsExceptionOp
	globalsObjectBuckets
	globalsObjectTop
	globalsFiberContext
	globalsMainFiber
	callOpline
	callFunc
	callThis
	callPrev
	callSize
	infoCode
	infoTop
	infoGenerator
	zvalType
	zvalNumArgs
	zvalSize
	funcType
	funcFlags
	funcName
	funcScope
	funcNumArgs
	funcOpcodes
	funcLast
	funcVars
	funcLastVar
	funcFile
	funcLineEnd
	internalHandler
	opExtended
	opLine
	opCode
	opFrameless
	opSize
	stringLen
	stringVal
	classType
	className
	classParent
	objectClass
	objectProperties
	arrayCount
	referenceValue
	generatorCall
	generatorParent
	generatorFlags
	generatorRunning
	fiberCall
	fiberBottom
	fiberStatus
	fiberStack
	fiberPrevious
	fiberContext
	requestContext
	requestMethod
	requestURI
	requestPath
	requestQuery
	requestStarted
	sapiName
	fields
)

// fieldNames are the fields' names in the tables.
var fieldNames = [fields]string{
	releaseMinor: "release.minor", globalsCurrent: "globals.current_execute_data", globalsException: "globals.exception",
	globalsOplineBefore: "globals.opline_before_exception", globalsExceptionOp: "globals.exception_op",
	globalsObjectBuckets: "globals.object_buckets", globalsObjectTop: "globals.object_top",
	globalsFiberContext: "globals.current_fiber_context", globalsMainFiber: "globals.main_fiber_context",
	callOpline: "execute_data.opline", callFunc: "execute_data.func", callThis: "execute_data.this", callPrev: "execute_data.prev", callSize: "execute_data.size",
	infoCode: "call.code", infoTop: "call.top", infoGenerator: "call.generator",
	zvalType: "zval.type", zvalNumArgs: "zval.num_args", zvalSize: "zval.size",
	funcType: "function.type", funcFlags: "function.flags", funcName: "function.name", funcScope: "function.scope", funcNumArgs: "function.num_args",
	funcOpcodes: "function.opcodes", funcLast: "function.last", funcVars: "function.vars", funcLastVar: "function.last_var", funcFile: "function.filename", funcLineEnd: "function.line_end",
	internalHandler: "function.handler",
	opExtended:      "op.extended_value", opLine: "op.lineno", opCode: "op.opcode", opFrameless: "op.frameless", opSize: "op.size",
	stringLen: "string.len", stringVal: "string.val",
	classType: "class.type", className: "class.name", classParent: "class.parent",
	objectClass: "object.class", objectProperties: "object.properties_table",
	arrayCount: "array.count", referenceValue: "reference.value",
	generatorCall: "generator.execute_data", generatorParent: "generator.parent", generatorFlags: "generator.flags", generatorRunning: "generator.running",
	fiberCall: "fiber.execute_data", fiberBottom: "fiber.stack_bottom", fiberStatus: "fiber.status", fiberStack: "fiber.stack", fiberPrevious: "fiber.previous", fiberContext: "fiber.context",
	requestContext: "request.context", requestMethod: "request.method", requestURI: "request.uri", requestPath: "request.path", requestQuery: "request.query", requestStarted: "request.started",
	sapiName: "sapi.name",
}

// layout has the offsets of fields, and numbers, of one release.
type layout struct {
	api int // ZEND_MODULE_API_NO
	at  [fields]uint64
}

// absent is the value of a field that a release lacks.
const absent = ^uint64(0)

func (l *layout) has(f field) bool { return l.at[f] != absent }

// optional are the fields that a release may lack.
var optional = map[field]bool{
	globalsFiberContext: true, globalsMainFiber: true, // 8.1 on
	opFrameless: true, // 8.4 on
	fiberCall:   true, fiberBottom: true, fiberStatus: true, fiberStack: true, fiberPrevious: true, fiberContext: true,
}

//go:embed layouts
var layouts embed.FS

// maxOffset bounds offsets and numbers.
const maxOffset = 1 << 31

// layoutOf returns the layout of the release with an API number; nil if it is not known.
func layoutOf(api int) (*layout, error) {
	text, err := layouts.ReadFile(fmt.Sprintf("layouts/%d.txt", api))
	if err != nil {
		return nil, nil
	}
	l := &layout{api: api}
	for i := range l.at {
		l.at[i] = absent
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 2 || words[0] == "#" {
			continue
		}
		n, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil || n > maxOffset {
			return nil, fmt.Errorf("the layout of PHP's API %d: %q", api, line)
		}
		for f, name := range fieldNames {
			if name == words[0] {
				l.at[f] = n
			}
		}
	}
	for f := range fields {
		if !l.has(f) && !optional[f] {
			return nil, fmt.Errorf("the layout of PHP's API %d lacks %s", api, fieldNames[f])
		}
	}
	return l, nil
}
