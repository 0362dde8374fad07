// Regexp.js matches a regular expression that takes for ever.
'use strict';
const slow = /^(a+)+\/b$/gimu;
slow.test('ab'); slow.test('ab'); // then it is compiled
console.log('ready');
const text = 'a'.repeat(100) + 'c';
if (process.argv[2] === 'replace') text.replace(slow, 'x');
slow.test(text);
