// Leaves.js runs in functions whose optimized code is not valid any more: they leave it when they
// get control back. It says that it is ready, prints its stack, and stays there.
'use strict';
Error.stackTraceLimit = 100;
class Shape { size() { return 1; } }
const shape = new Shape();
const calls = [() => 1, () => 2, () => 3, () => 4, () => 5, () => 6]; // so many that none is inlined

function within(f) {
  const before = shape.size();
  const made = f(1, 2, 3, 4, 5, 6, 7, 8);
  return before + made + shape.size();
}
function again(f, n) {
  if (n > 0) return 1 + again(f, n - 1);
  return within(f) + 1;
}
function recursive(f) { return again(f, 3) + shape.size(); }
function stays() {
  Shape.prototype.size = function () { return 2; }; // the code counts on the one before
  console.log('ready\n' + new Error().stack + '\n');
  for (;;);
}
for (let i = 0; i < 200000; i++) recursive(calls[i % calls.length]);
recursive(stays);
