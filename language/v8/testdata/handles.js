// What keeps the loop of events of a process and of its workers alive, as Node.js tells it. The line
// behind "ready" has it as JSON: for each thread of JavaScript what it waits for. It waits until it
// can read.
'use strict';
const net = require('net');
const dgram = require('dgram');
const fs = require('fs');
const child = require('child_process');
const { Worker } = require('worker_threads');

const folder = process.argv[2];
const socket = folder + '/socket';
const list = [];
const add = (kind, name) => list.push(name === undefined ? kind : `${kind} (${name})`);

const opened = (server) => new Promise((resolve) => server.once('listening', resolve));
const started = (w) => new Promise((resolve) => w.once('online', resolve));

async function main() {
  const tcp = net.createServer(() => {}).listen(0, '127.0.0.1');
  await opened(tcp);
  add('TCP server', `fd ${tcp._handle.fd}`);
  const accepted = new Promise((resolve) => tcp.once('connection', resolve));
  const client = net.connect(tcp.address().port, '127.0.0.1');
  add('TCP connection', `fd ${(await accepted)._handle.fd}`);
  if (client.connecting) await new Promise((resolve) => client.once('connect', resolve));
  add('TCP connection', `fd ${client._handle.fd}`);
  const local = net.createServer(() => {}).listen(socket);
  await opened(local);
  add('pipe server', `fd ${local._handle.fd}, ${socket}`);
  const datagrams = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await opened(datagrams);
  const state = Object.getOwnPropertySymbols(datagrams).find((s) => String(s) === 'Symbol(state symbol)');
  add('UDP socket', `fd ${datagrams[state].handle.fd}`);
  const sleeper = child.spawn('sleep', ['1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
  add('child process', sleeper.pid);
  add('pipe connection', `fd ${sleeper.stdout._handle.fd}`);
  fs.watch(folder, () => {});
  add('file watcher', folder);
  process.on('SIGUSR2', () => {}).on('exit', () => sleeper.kill());
  net.createServer(() => {}).listen(0).unref(); // it keeps nothing alive
  setTimeout(() => {}, 1e6);
  add('timer');
  const worker = new Worker('setInterval(() => {}, 1e6); for (let i = 0; i < 12; i++) require("net").createServer().listen(0);', { eval: true, name: 'indexer' });
  await started(worker);
  const busy = new Worker('for (;;);', { eval: true, name: 'spinner' });
  await started(busy);
  add('wake-up from another thread');
  list.sort();
  process.stdout.write('ready\n' + JSON.stringify({ main: list, indexer: worker.threadId, spinner: busy.threadId }) + '\n');
}
main();
