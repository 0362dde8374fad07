<?php
// Says what its variables have, and waits.
namespace Shop;

class Item
{
}

function written($v)
{
    if (is_string($v)) {
        return "'" . (strlen($v) > 100 ? substr($v, 0, 100) . '…' : $v) . "'";
    }
    if (is_array($v)) {
        return 'array(' . count($v) . ')';
    }
    if (is_object($v)) {
        return 'Object(' . get_class($v) . ')';
    }
    return is_resource($v) ? 'resource' : var_export($v, true);
}

function say($vars)
{
    foreach ($vars as $name => $v) {
        fwrite(STDOUT, "\$$name " . written($v) . "\n");
    }
}

function inner($a, $b = 4, ?Item $c = null, ...$rest)
{
    $d = 1.5;
    $e = 1e100;
    $f = -1 / 3;
    $g = INF;
    $h = [1, 2, 'x' => 3];
    $i = "text";
    $j = str_repeat("long", 100);
    $k = &$i;
    $l = new Item;
    $m = STDIN;
    $n = -PHP_INT_MAX;
    $o = 1e15;
    $p = 0.00001234;
    $q = 0.0001 * 9;
    $t = 1e17;
    $u = 123456789012345678.0;
    $r = "";
    if ($a) {
        unset($l);
    }
    $s = function () {
    };
    say(get_defined_vars());
    fwrite(STDOUT, "end\n");
    fgets(STDIN);
}

fwrite(STDOUT, "ready\n");
inner(true, 7, new Item, 1, 2);
