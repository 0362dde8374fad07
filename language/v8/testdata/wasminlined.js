// Wasminlined.js is like wasm.js: function 2 of a module calls 3, which calls 4; and it calls 5, which
// ends with a tail call of 4. The last one calls the imported function 1, which prints its stack, and
// waits: when it is called first, or, with an argument, the second time.
'use strict';
Error.stackTraceLimit = 100;
const text = s => [s.length, ...Buffer.from(s)];
const section = (kind, body) => [kind, body.length, ...body];
const body = code => [code.length + 1, 0, ...code];
const tail = WebAssembly.validate(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 10, 6, 1, 4, 0, 0x12, 0, 0x0b])); // whether V8 has them
const names = [...text('name'), ...section(0, text('shop')),
  ...section(1, [4, 2, ...text('outer'), 3, ...text('middle'), 4, ...text('inner'), 5, ...text('tail')])];
const code = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 5, 1, 0x60, 0, 1, 0x7f, // type 0: () -> i32
  2, 13, 2, 1, 0x65, 1, 0x61, 0, 0, 1, 0x65, 1, 0x62, 0, 0, // imports e.a and e.b
  3, 5, 4, 0, 0, 0, 0, 7, 5, 1, 1, 0x72, 0, 2, // four functions, the first of which is exported as r
  ...section(10, [4,
    ...body([0x10, 3, 0x1a, 0x10, 5, 0x0b]), // call 3; drop; call 5
    ...body([0x10, 4, 0x1a, 0x41, 7, 0x0b]), // call 4; drop; 7
    ...body([0x10, 1, 0x1a, 0x41, 7, 0x0b]),
    ...body([tail ? 0x12 : 0x10, 4, 0x0b])]),
  ...section(0, names)]));
let left = process.argv[2] ? 2 : 1;
function waits() {
  if (--left > 0) return 1;
  console.log(JSON.stringify(new Error('').stack)); Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0);
}
const instance = new WebAssembly.Instance(code, { e: { a: () => 1, b: waits } });
console.log('ready');
instance.exports.r();
