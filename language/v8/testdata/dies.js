// Dies.js prints its stack as Error.stack has it, and dies there.
'use strict';
Error.stackTraceLimit = 100;
class Server {
  constructor(f) { this.handle(f); }
  handle(f) { [1].forEach(() => this.route(f)); }
  route(f) { return f(); }
  static make(f) { return new this(f); }
}
class Client extends Server {}
function dies() { console.log(JSON.stringify(new Error('').stack)); process.abort(); }
console.log('ready');
process.stdin.once('data', function begins() { Client.make(function inner() { try { throw 1; } catch (e) { eval('dies()'); } }); });
globalThis.dies = dies;
