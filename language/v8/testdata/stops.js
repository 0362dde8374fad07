// Stops.js announces its stack, and then works for a while without leaving the function that has
// announced it. Argument 1 is the file of announcements: a line with a number, which is odd while
// there is none, and the stack as Error.stack has it, each time from the beginning.
'use strict';
const fs = require('fs'), vm = require('vm'), EventEmitter = require('events');
Error.stackTraceLimit = 500;
// Deno writes stacks in a way of its own. This is V8's.
if (globalThis.Deno) Error.prepareStackTrace = (_, sites) => 'Error' + sites.map(site => '\n    at ' + site).join('');
const file = fs.openSync(process.argv[2], 'r+'), size = 1 << 20, buffer = Buffer.alloc(size);
let number = 1, pace = 0.01;

function announce() {
  let at = {};
  Error.captureStackTrace(at, announce);
  const n = buffer.write(String(number + 1).padStart(12) + '\n' + at.stack + '\n\n');
  if (pace < 1) return;
  fs.writeSync(file, buffer, 13, n - 13, 13);
  fs.writeSync(file, buffer, 0, 13, 0);
}
function revoke() { if (pace > 1) fs.writeSync(file, Buffer.from(String(number += 2).padStart(12) + '\n'), 0, 13, 0); }

// Works are what the innermost function does meanwhile.
const works = [
  function sorts() { const a = []; for (let i = 0; i < 300; i++) a.push((i * 7919) % 1009); return a.sort((x, y) => x - y).length; },
  function matches() { return /(a+)+b/.test('aaaaaaaaaaaac'); },
  function parses() { return JSON.stringify(JSON.parse('{"a":[1,2,{"b":"x"}]}')).length; },
  function generates() { let n = 0; for (const x of (function* inner() { for (let i = 0; i < 50; i++) yield i; })()) n += x; return n; },
  function maps() { const m = new Map(); for (let i = 0; i < 200; i++) m.set('k' + i, i); return m.size; },
  function chains() { return [1, 2, 3, 4].map(x => x * 2).filter(x => x > 2).reduce((a, b) => a + b); },
  function throws() { try { null.x; } catch (e) { return e instanceof TypeError; } },
  function counts() { let n = 0; for (let i = 0; i < 5000; i++) n = (n * 31 + i) | 0; return n; },
  function makes() { class A { f = 1; constructor() { this.g = this.f; } } return new A().g; },
  function joins() { return `${'a'.repeat(20)}-${[1, 2, 3].join()}`.replace(/a/g, c => c + 'b').split('-').length; },
];
let turn = 0;
function spin() { const f = works[turn++ % works.length], end = performance.now() + pace; while (performance.now() < end) f(); }
function leaf() { announce(); spin(); revoke(); return 1; }

class Base {
  constructor(f) { this.made = f ? f() : 0; }
  method(f) { return f(); }
  static make(f) { return f(); }
  get got() { return leaf(); }
  set got(v) { leaf(); }
}
class Derived extends Base {
  field = Derived.fielder && Derived.fielder();
  #hidden(f) { return f(); }
  constructor(f) { super(f); }
  method(f) { return super.method(f); }
  private(f) { return this.#hidden(f); }
  async later(f) { await null; return f(); }
  *each(f) { yield f(); }
  async *eachLater(f) { yield f(); }
  [Symbol.toPrimitive]() { return leaf(); }
  ['computed ' + 1](f) { return f(); }
}
function recursion(n, f) { return n ? recursion(n - 1, f) + 1 : f(); }
function even(n, f) { return n ? odd(n - 1, f) : f(); }
function odd(n, f) { return even(n - 1, f); }
function closure(x) { return function inside(f) { return x + f(); }; }
function Old(f) { this.x = f(); }
Old.prototype.named = function (f) { return f(); };
Old.prototype.arrow = f => f();
const object = { short(f) { return f(); }, long: function (f) { return f(); }, arrow: f => f(), get g() { return leaf(); } };
const inlinedA = f => f(), inlinedB = f => inlinedA(f), inlinedC = f => inlinedB(f);
function manyArguments(a, b, c, ...rest) { return rest[0](); }
function tag(strings, f) { return f(); }
function finallyRuns(f) { try { throw new Error('x'); } catch (e) { return f(); } finally { inlinedC(() => 1); } }
const evaluated = eval('(function evaluated(f) { return f(); })');
const built = new Function('f', 'return f();');
const scripted = new vm.Script('\n(function scripted(f) { return f(); })', { filename: 'scripted.js', lineOffset: 10 }).runInThisContext();
const emitter = new EventEmitter();
emitter.on('event', function listener(f) { f(); });
const wasm = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f, 2, 10, 1, 1, 0x65, 4, 0x63, 0x61, 0x6c, 0x6c, 0, 0,
  3, 2, 1, 0, 7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 1, 0x0a, 6, 1, 4, 0, 0x10, 0, 0x0b])), { e: { call: () => leaf() } });

const scenarios = [
  () => recursion(30, leaf), () => even(20, leaf), () => closure(1)(leaf), () => new Base(leaf), () => new Derived(leaf),
  () => new Derived().method(leaf), () => new Derived().private(leaf), () => Base.make(leaf), () => Derived.make(leaf),
  () => new Base().got, () => { new Base().got = 1; }, () => +new Derived(), () => new Derived()['computed 1'](leaf),
  () => [...new Derived().each(leaf)], () => new Old(leaf), () => new Old(() => 1).named(leaf), () => new Old(() => 1).arrow(leaf),
  () => object.short(leaf), () => object.long(leaf), () => object.arrow(leaf), () => object.g,
  () => inlinedC(leaf), () => manyArguments(1, 2, 3, leaf, 5), () => manyArguments(...[1, 2, 3], leaf), () => tag`a${leaf}b`,
  () => finallyRuns(leaf), () => evaluated(leaf), () => built(leaf), () => scripted(leaf), () => eval('leaf()'), () => (0, eval)('this.leaf()'),
  () => emitter.emit('event', leaf), () => [1].map(leaf), () => [1].forEach(() => leaf()), () => [3, 1].sort(() => leaf()), () => [1].reduce(leaf, 0),
  () => 'x'.replace('x', leaf), () => 'x'.replace(/x/, () => leaf()), () => JSON.stringify({ toJSON: leaf }), () => JSON.parse('1', () => leaf()),
  () => Reflect.apply(leaf, null, []), () => Reflect.construct(Base, [leaf]), () => leaf.call(null), () => leaf.apply(null, []), () => leaf.bind(null)(),
  () => new Proxy({}, { get: leaf }).x, () => new Proxy(leaf, {})(), () => new Map([[1, 1]]).forEach(() => leaf()), () => new Set([1]).forEach(leaf),
  () => Array.from([1], leaf), () => new Promise(leaf), () => Object.defineProperty({}, 'p', { get() { return leaf(); } }).p,
  () => { class S { static { leaf(); } } }, () => { Derived.fielder = leaf; new Derived(); Derived.fielder = null; }, () => wasm.exports.run(),
  () => new Intl.DateTimeFormat() && [1].findLast(leaf), () => structuredClone && new Int8Array(2).map(leaf), () => ({ [Symbol.iterator]: function* () { yield leaf(); } })[Symbol.iterator]().next(),
];
const laterScenarios = [
  async () => { await null; leaf(); }, () => new Derived().later(leaf), async () => { for await (const x of new Derived().eachLater(leaf)); },
  () => Promise.resolve().then(leaf), () => new Promise(done => process.nextTick(() => { leaf(); done(); })),
  () => new Promise(done => setTimeout(() => { leaf(); done(); }, 0)), () => new Promise(done => setImmediate(function immediate() { leaf(); done(); })),
  () => new Promise(done => queueMicrotask(() => { leaf(); done(); })),
];
globalThis.leaf = leaf;

async function main() {
  for (let i = 0; ; i++) {
    if (i % 10 === 9) await laterScenarios[(i / 10 | 0) % laterScenarios.length]();
    else scenarios[(i - (i / 10 | 0)) % scenarios.length]();
  }
}
// All is called often first, so that the compilers come.
for (let i = +process.argv[4]; i > 0; i--) for (const f of scenarios) f();
pace = +process.argv[3];
console.log('ready');
main();
