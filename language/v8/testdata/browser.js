// Browser.js gives a page what stops.js has of Node.js. The file of announcements is an array that
// begins with a mark, by which it is found in memory.
const announcements = new Uint8Array((1 << 20) + 64);
announcements.set(new TextEncoder().encode('sfwalk' + ' announces '.repeat(2) + '..'));
const process = { argv: ['', '', '', '15', '30'], nextTick: f => queueMicrotask(f) };
const Buffer = {
  alloc(size) {
    const list = new Uint8Array(size);
    list.write = text => new TextEncoder().encodeInto(text, list).written;
    return list;
  },
  from: text => new TextEncoder().encode(text),
};
const setImmediate = f => setTimeout(f, 0);
function require(name) {
  return {
    fs: { openSync: () => 0, writeSync: (_, from, at, n, to) => announcements.set(from.subarray(at, at + n), 64 + to) },
    vm: { Script: class { constructor(text) { this.text = text; } runInThisContext() { return (0, eval)(this.text + '\n//# sourceURL=scripted.js'); } } },
    events: class { on(_, f) { this.f = f; } emit(_, x) { this.f(x); } },
  }[name];
}
