// V8steps.js calls functions with fewer and with more arguments than they declare, in all the ways
// that shift arguments on the stack. It reads a byte first.
'use strict';
const fs = require('fs');

function none() { return 1; }
function three(a, b, c) { return c === undefined ? 1 : 2; }
function nine(a, b, c, d, e, f, g, h, i) { return i === undefined ? 1 : 2; }
class Base { constructor(a, b, c) { this.a = a; this.b = b; this.c = c; } method(a, b, c, d) { return this; } }
class Derived extends Base {}
const bound = three.bind(null, 1), bound5 = nine.bind(null, 1, 2, 3, 4, 5), boundClass = Base.bind(null, 1);
const proxy = new Proxy(nine, {});
const list = [1, 2, 3, 4, 5, 6], object = { method(a, b, c, d) { return this; } };
function forwards() { return nine.apply(null, arguments); }
function rest(...all) { return nine(...all); }

function calls() {
  none(); none(1); none(1, 2, 3, 4);
  three(); three(1); three(1, 2); three(1, 2, 3); three(1, 2, 3, 4); three(1, 2, 3, 4, 5, 6, 7);
  nine(); nine(1); nine(1, 2, 3, 4, 5, 6, 7, 8); nine(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  object.method(); object.method(1, 2); object.method(1, 2, 3, 4, 5);
  new Base(); new Base(1); new Base(1, 2, 3, 4); new Derived(); new Derived(1, 2, 3, 4, 5);
  bound(); bound(1); bound(1, 2, 3); bound5(); bound5(1, 2); bound5(1, 2, 3, 4, 5, 6); new boundClass(1);
  three.call(); three.call(null, 1); nine.apply(null, list); nine.apply(null, [1]); nine.apply();
  nine(...list); three(...list); new Base(...list); new Derived(...list);
  Reflect.apply(nine, null, list); Reflect.apply(three, null, []); Reflect.construct(Base, list);
  proxy(1, 2); forwards(1, 2); forwards(); rest(1); rest(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  list.map(nine); list.forEach(none); list.reduce(three); [3, 1, 2].sort((a) => a);
  Math.max(); Math.max(1, 2, 3, 4, 5); String.fromCharCode(...list);
}
for (let i = 0; i < +process.argv[2]; i++) calls();
fs.writeSync(1, "ready\n");
fs.readSync(0, Buffer.alloc(1), 0, 1);
for (;;) calls();
