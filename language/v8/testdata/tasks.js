// Async functions that wait for each other in all ways. Between two steps, when none of them runs,
// what each one waits for is written to the file of the first argument, as JSON behind a number that
// is even while that holds. Functions are as many as the second argument says; each has a name of its
// own, and at most one call at a time.
'use strict';
const fs = require('fs');
const vm = require('vm');
const out = fs.openSync(process.argv[2], 'w');
const count = Number(process.argv[3]);
let seed = Number(process.argv[4] || 1);
const collect = globalThis.gc || (() => {});

function random(n) {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return (seed >>> 8) % n;
}

const functions = [];
const names = [];
const state = []; // of each call: { line, children, ready }
const free = [];
const calls = []; // how often each function was called
const leaves = []; // { settle, mine, of }

// A name and the source of a function, whose lines 3 and on are where it waits.
function source(i) {
  const body = `
  for (const step of plan) { try { switch (step.how) {
    case 0: await enter(${i}, 0, step); break;
    case 1: await enter(${i}, 1, step); break;
    case 2: for await (const x of generator${i}(enter, step)) { leave(${i}); } break;
    case 3: { const x = [1, await enter(${i}, 3, step), 2]; } break;
    case 4: for (const n of [1]) { await enter(${i}, 4, step); } break;
  } } catch { } finally { leave(${i}); } }
  return end(${i});
`;
  const generator = `async function* generator${i}(enter, step) {
  yield await enter(${i}, 2, step);
}
`;
  switch (i % 5) {
    case 0: return [`f${i}`, `async function f${i}(plan) {${body}}\nfunctions[${i}] = f${i};\n`, generator];
    case 1: return [`C${i}.m${i}`, `class C${i} { async m${i}(plan) {${body}} }\nfunctions[${i}] = (plan) => new C${i}().m${i}(plan);\n`, generator];
    case 2: return [`a${i}`, `const a${i} = async (plan) => {${body}};\nfunctions[${i}] = a${i};\n`, generator];
    case 3: return [`Object.o${i}`, `const o = { async o${i}(plan) {${body}} };\nfunctions[${i}] = (plan) => o.o${i}(plan);\n`, generator];
    default: return [`C${i}.s${i}`, `class C${i} { static async s${i}(plan) {${body}} }\nfunctions[${i}] = (plan) => C${i}.s${i}(plan);\n`, generator];
  }
}

globalThis.functions = functions;
globalThis.enter = enter;
globalThis.leave = leave;
globalThis.end = end;
for (let i = 0; i < count; i++) {
  const [name, text, generator] = source(i);
  names[i] = name;
  vm.runInThisContext(`{ ${text}${generator} }`, { filename: `/made/f${i}.js` });
  free.push(i);
}

class Mine extends Promise {}

function leaf(fails) {
  const mine = random(4) === 0;
  return new (mine ? Mine : Promise)((resolve, reject) => {
    leaves.push({ settle: fails ? () => reject(new Error('leaf')) : () => resolve(1), mine, of: null });
  });
}

// Calls a function, if there is one left. The children of what waits for it get its number.
function call(depth, children) {
  if (depth > 5 || free.length === 0) return leaf(random(4) === 0);
  const i = free.splice(random(free.length), 1)[0];
  const plan = [];
  for (let n = 1 + random(3); n > 0; n--) plan.push({ how: random(5), depth: depth + 1 });
  return callWith(i, plan, children);
}

function callWith(i, plan, children) {
  state[i] = undefined;
  calls[i] = (calls[i] || 0) + 1;
  children.push({ i, call: calls[i] });
  const { [i]: f } = functions;
  const p = f(plan);
  if (random(2)) p.catch(() => {});
  return p;
}

// What a function waits for at a line, beside its number.
function enter(i, line, step) {
  const children = [];
  const s = { line: line + 3, children, ready: false, generator: line === 2 };
  const next = () => call(step.depth, children);
  const several = () => { const list = []; for (let n = 1 + random(3); n > 0; n--) list.push(next()); return list; };
  let p = step.promise;
  if (p) children.push(step.child);
  else switch (random(12)) {
    case 0: case 1: {
      p = leaf(random(4) === 0);
      leaves[leaves.length - 1].of = s;
      break;
    }
    case 2: case 3: p = next(); break;
    case 4: p = Promise.all(several()); break;
    case 5: p = Promise.race(several()); break;
    case 6: p = Promise.any(several()); break;
    case 7: p = Promise.allSettled(several()); break;
    case 8: p = next().then((x) => x, (x) => x); break;
    case 9: p = next().finally(() => {}).catch(() => {}); break;
    case 10: { const q = next(); p = new Promise((resolve) => resolve(q)); break; }
    case 11: { // two that wait for the same one
      const shared = [];
      const q = next();
      const child = children.pop();
      if (child === undefined || free.length < 2) { if (child !== undefined) children.push(child); p = q; break; }
      const list = [];
      for (let n = 0; n < 2; n++) list.push(callWith(free.pop(), [{ how: random(5), depth: 9, promise: q, child }], children));
      p = Promise.all(list);
      break;
    }
  }
  state[i] = s;
  return p;
}

function leave(i) { state[i] = undefined; }
function end(i) { state[i] = undefined; free.push(i); return i; }

let number = 0;
function announce(even) {
  const list = [];
  if (even) {
    for (let i = 0; i < count; i++) {
      const s = state[i];
      if (s) list.push({ name: names[i], line: s.line, ready: s.ready, children: s.children.filter((c) => state[c.i] && calls[c.i] === c.call).map((c) => names[c.i]), generator: s.generator ? `generator${i}` : '' });
    }
  }
  number = even ? number + 2 - number % 2 : number + 1 - number % 2;
  const text = Buffer.from(number + '\n' + JSON.stringify(list) + '\n\n');
  fs.writeSync(out, text, 0, text.length, 0); // Deno appends a string
}

let kept = [];
function spin(n) { // it makes work for the garbage collector
  for (let i = 0; i < n; i++) {
    const list = [];
    for (let j = 0; j < 200; j++) list.push({ i, j, text: `${i}-${j}` });
    if (i % 16 === 0) kept.push(list);
  }
  if (kept.length > 200) kept = [];
  if (random(8) === 0) collect();
}

// Settles leaves. ready is true to settle the ones alone of which it is known who is ready then.
function settle(n, ready) {
  for (; n > 0 && leaves.length > 0; n--) {
    let i = random(leaves.length);
    if (ready) i = leaves.findIndex((x, j) => (j >= i || j > leaves.length / 2) && x.of && !x.mine);
    if (i < 0) return;
    const x = leaves[i];
    leaves.splice(i, 1);
    if (x.of) x.of.ready = true;
    x.settle();
  }
}

const top = [];
function step() {
  announce(false);
  while (free.length > count / 4) {
    const i = free.pop();
    callWith(i, [{ how: random(5), depth: 1 }, { how: random(5), depth: 1 }], top);
  }
  top.length = 0;
  setImmediate(() => {
    settle(1 + random(4), true); // it is done when this function has returned
    announce(true);
    spin(300);
    announce(false);
    settle(1 + random(4), false);
    setImmediate(step);
  });
}
process.on('unhandledRejection', () => {});
step();
console.log('ready');
