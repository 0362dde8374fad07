<?php
// Has fibers and generators that wait, and says where each of them is.
namespace Shop;

function counting(int $n)
{
    for ($i = 0; $i < $n; $i++) {
        yield $i;
    }
}

function delegating()
{
    yield 1;
    yield from counting(5);
}

class Stock
{
    private $items = [3, 4];

    function all()
    {
        foreach ($this->items as $item) {
            yield $item;
        }
    }

    static function none()
    {
        yield;
    }
}

function leaf()
{
    \Fiber::suspend(1);
}

function say($generator)
{
    $r = new \ReflectionGenerator($generator);
    $f = $r->getFunction();
    $class = $f instanceof \ReflectionMethod ? $f->class . ($r->getThis() ? '->' : '::') : '';
    fwrite(STDOUT, "generator " . spl_object_id($generator) . "\n$class{$f->name}\t{$r->getExecutingFile()}\t{$r->getExecutingLine()}\n");
}

function sayFiber($fiber)
{
    fwrite(STDOUT, "fiber " . spl_object_id($fiber) . "\n");
    foreach ((new \ReflectionFiber($fiber))->getTrace() as $e) {
        fwrite(STDOUT, ($e['class'] ?? '') . ($e['type'] ?? '') . $e['function'] . "\t" . ($e['file'] ?? '') . "\t" . ($e['line'] ?? 0) . "\n");
    }
}

fwrite(STDOUT, "ready\n");
$keep = [counting(4), counting(3), delegating(), (new Stock)->all(), Stock::none(), (function () {
    yield 7;
})()];
$keep[0]->next();
$keep[2]->current();
$keep[2]->next();
$keep[3]->next();
$keep[5]->current();
foreach ($keep as $g) {
    say($g);
}
say((new \ReflectionGenerator($keep[2]))->getExecutingGenerator());
$over = counting(0);
$over->current();
$fibers = [
    new \Fiber(function () {
        leaf();
    }),
    new \Fiber(function () {
        array_map(function ($x) {
            global $inner;
            $inner[] = $g = counting(2);
            foreach ($g as $y) {
                \Fiber::suspend($x + $y);
            }
        }, [1, 2]);
    }),
    new \Fiber('Shop\leaf'),
];
foreach ($fibers as $f) {
    $f->start();
}
$fibers[1]->resume();
foreach ($inner as $g) {
    say($g);
}
foreach ($fibers as $f) {
    if (!$f->isTerminated()) {
        sayFiber($f);
    }
}
fwrite(STDOUT, "end\n");
fgets(STDIN);
