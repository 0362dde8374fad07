// JavaScript that is busy in all the ways that a stack can look: in each of V8's tiers, in
// builtins, regular expressions, callbacks from C++, generators, exceptions.
'use strict';
class Box {
  constructor(v) { this.v = v; }
  get twice() { return this.v * 2; }
}

function inner(n) {
  let s = 0;
  for (let i = 0; i < n; i++)
    s = (s * 31 + i) | 0;
  return s;
}

function middle(n) {
  let s = 1.5;
  for (let k = 0; k < 3; k++)
    s += inner(n + k) * 0.5;
  return s;
}

const sorts = a => a.slice().sort((x, y) => x - y).map(x => new Box(x).twice).filter(x => x % 3).join(',');
const matches = s => s.replace(/(\d+),(\d+)/g, (m, a, b) => b + a).length;

function switches(x) {
  switch (x % 9) {
  case 0: return 'a';
  case 1: return 'b';
  case 2: return 'cc';
  case 3: return 1;
  case 4: return [x];
  case 5: return {x};
  case 6: return x / 3;
  case 7: return null;
  default: return String(x);
  }
}

function throwing(x) {
  try {
    if (x % 5 === 0)
      throw new Error('x' + x);
    return x;
  } catch (e) {
    return e.message.length;
  } finally {
    switches(x);
  }
}

function* squares(n) {
  for (let i = 0; i < n; i++)
    yield i * i;
}

const varargs = (...xs) => xs.length + Math.max(...xs);

async function later(x) {
  await null;
  return x + 1;
}

function outer(n) {
  let t = 0;
  for (let i = 0; i < n; i++) {
    t += middle(10);
    t += matches(sorts([5, 3, i, 9, 1, 22, i * 7]));
    switches(i);
    t += throwing(i);
    for (const square of squares(5))
      t += square;
    t += varargs(i, 2, 3, 4, 5, 6, 7, 8);
    t += JSON.stringify({a: [i, {b: 'x'}]}).length;
    later(i);
    t += new Map([[i, 1], ['k', 2]]).get('k') + [...new Set([1, i])].length;
    t += Reflect.apply(middle, null, [i]) + parseInt('1' + i) + `t${i}`.length;
  }
  return t;
}

let turns = 0;
function turn() {
  outer(3);
  if (++turns === 100)
    require('fs').writeSync(1, 'ready\n');
  setTimeout(turn, 0);
}
turn();
