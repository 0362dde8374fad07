<?php
// deep.php DEPTH waits below DEPTH functions.
function down($n) {
	if ($n > 0) return down($n - 1) + 1;
	echo "ready\n";
	while (true) sleep(1000);
}
down((int) $argv[1]);
