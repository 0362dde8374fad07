// Waits.js prints the stack of an async function that others await, and waits in the event loop.
'use strict';
async function leaf() {
  await null;
  console.log(JSON.stringify(new Error('').stack)); await new Promise(done => setTimeout(done, 1e8));
}
async function middle() { await leaf(); }
async function outer() { await middle(); }
console.log('ready');
outer();
