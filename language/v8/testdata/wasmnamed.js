// Wasmnamed.js is like wasm.js, but functions 2 and 3 have names, and with an argument, the module
// has one, too.
'use strict';
Error.stackTraceLimit = 100;
const text = s => [s.length, ...Buffer.from(s)];
const section = (kind, body) => [kind, body.length, ...body];
const names = [...text('name'), ...(process.argv[2] ? section(0, text(process.argv[2])) : []),
  ...section(1, [2, 2, ...text('outer'), 3, ...text('in<n>er')])];
const code = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 5, 1, 0x60, 0, 1, 0x7f, // type 0: () -> i32
  2, 13, 2, 1, 0x65, 1, 0x61, 0, 0, 1, 0x65, 1, 0x62, 0, 0, // imports e.a and e.b
  3, 4, 3, 0, 0, 0, 7, 5, 1, 1, 0x72, 0, 2, // three functions, the first of which is exported as r
  10, 16, 3, 4, 0, 0x10, 3, 0x0b, 4, 0, 0x10, 1, 0x0b, 4, 0, 0x41, 7, 0x0b, // call 3; call 1; 7
  ...section(0, names)]));
function waits() {
  console.log(JSON.stringify(new Error('').stack)); Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0);
}
const instance = new WebAssembly.Instance(code, { e: { a: () => 1, b: waits } });
console.log('ready');
instance.exports.r();
