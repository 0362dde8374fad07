// Package protocol is the protocol between sfwalk and plug-ins: the messages of sniffer.proto in
// Go, and constants that both sides must know.
//
// Authors in Go use package plugin instead, which hides the protocol. Authors in other languages
// need sniffer.proto and the constants here: go-plugin's magic cookie, and the limits for plug-ins.
package protocol

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative sniffer.proto

// Version is the version of the protocol, which go-plugin's handshake negotiates.
const Version = 1

// The host sets the environment variable CookieKey to CookieValue. Without it, a user has started
// the plug-in.
const (
	CookieKey   = "SFWALK_PLUGIN"
	CookieValue = "7c0f6f0a3a2f4f1c9a5d5b7f2c6f1e0d"
)

// Service is the name under which go-plugin lists the plug-in.
const Service = "sniffer"

// Limits for plug-ins. The host enforces them.
const (
	MaxName     = 32       // bytes of Description.name
	MaxText     = 4096     // bytes of any other text
	MaxClaims   = 256      // patterns in Claims.modules
	MaxStack    = 64 << 10 // Needs.stack, bytes
	MaxCode     = 4 << 10  // Needs.code_before and code_after, bytes
	MaxNever    = 4096     // ranges in Ready.never
	MaxMore     = 64       // rows, ranges and symbols in one Answer, each
	MaxRules    = 128      // register rules in one Row or Frame
	MaxRanges   = 64       // ranges in one Read
	MaxRead     = 64 << 10 // bytes in one Read
	MaxFound    = 16       // functions in one Found
	MaxModules  = 1024     // modules in one Modules message
	MaxRequests = 256      // requests (Read, List, Find) before one Answer or Ready

	MaxPage          = 512      // physical frames in one Stack
	MaxDecorated     = 64 << 10 // frames of the language on one stack, and groups, own levels and names
	MaxDecoration    = 16 << 20 // bytes of texts in the decoration of one stack, or in all tasks, about
	MaxPages         = 1 << 10  // pages of one Decoration, or of Tasks
	MaxVariables     = 256      // args and locals of one frame, each
	MaxLocks         = 64       // waits and holds of one thread, each
	MaxRegisters     = 32       // Decorates.registers
	MaxStackRequests = 4096     // requests before one Decoration, or Tasks

	MaxTasks      = 64 << 10  // tasks of one run time
	MaxTaskFrames = 256 << 10 // frames of all of them
	MaxAwaiting   = 64        // awaited_by of one task
)
