// deep.js DEPTH waits below DEPTH functions.
function down(n) {
	if (n > 0) return down(n - 1) + 1;
	process.stdout.write("ready\n");
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
	return 0;
}
down(Number(process.argv[2]));
