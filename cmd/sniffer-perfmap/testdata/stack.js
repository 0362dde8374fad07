// What the tests look at: some time after something has come from standard input, outer
// calls middle,
// and that inner, which tells what Node.js makes of this stack and then blocks: in
// V8 (argument "wait") or in C++ code that computes for a long time ("compute").
//
// With --allow-natives-syntax and the argument "tiers" each of the three is of a tier of
// its own: inner is interpreted, middle is optimised, outer is baseline code.
'use strict';
const fs = require('fs');
const crypto = require('crypto');
const how = process.argv[2];

function inner(go) {
  if (!go)
    return 0;
  fs.writeSync(1, JSON.stringify(new Error().stack) + '\n');
  for (let i = 0; i < 16; i++) // so that V8 writes what it has to say of this code
    new Function(`return ${i}`)();
  if (how === 'compute')
    return crypto.pbkdf2Sync('secret', 'salt', 2 ** 31 - 1, 64, 'sha512').length;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return 1;
}

function middle(go) {
  return inner(go) + 1;
}

function outer(go) {
  return middle(go) + 1;
}

function fired() {
  outer(true);
}

Error.stackTraceLimit = Infinity;
if (process.argv[3] === 'tiers') {
  const tiers = new Function('inner', 'middle', 'outer', `
    %NeverOptimizeFunction(inner);
    %PrepareFunctionForOptimization(middle);
    for (let i = 0; i < 5; i++)
      outer(false);
    %CompileBaseline(outer);
    %OptimizeFunctionOnNextCall(middle);
    outer(false);`);
  tiers(inner, middle, outer);
}
process.stdin.once('data', () => setTimeout(fired, 1));
fs.writeSync(1, 'ready\n');
