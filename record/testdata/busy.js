// Busy.js computes. Functions that eval makes come and go: brief is called by brings alone.
'use strict';
class Work {
  constructor() { this.n = 0; }
  outer(f) { return this.middle(f); }
  middle(f) { for (let i = 0; i < 20; i++) this.n += f(i) & 1; return this.n; }
}
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function closes() { const kept = []; return x => { kept.push({ x }); return fib(15) + kept.length; }; }
function brings(i) { return eval('(function brief() { return ' + 'fib(12) + '.repeat(1 + i % 7) + i + '; })')(); }
const work = new Work();
console.log('ready');
for (let i = 0; ; i++) {
  work.outer(closes());
  brings(i);
}
