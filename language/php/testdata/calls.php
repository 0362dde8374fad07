<?php
// Keeps all kinds of calls busy: each has lines of its own.
namespace Shop;

function work(int $n): int
{
    $sum = 0;
    for ($i = 0; $i < $n; $i++) {
        $sum += $i * 3;
        $sum ^= strlen("abc" . $i);
        $sum = $sum % 1000003;
    }
    return $sum;
}

function deep(int $n): int
{
    if ($n == 0) {
        return work(20);
    }
    return 1 +
        deep($n - 1);
}

trait Counting
{
    private $count = 0;

    function count(): int
    {
        $this->count += work(3);
        return $this->count;
    }

    static function made(): int
    {
        return work(4);
    }
}

abstract class Base
{
    abstract function handle(int $n): int;

    function __call($name, $arguments)
    {
        return work(5) + count($arguments);
    }

    static function __callStatic($name, $arguments)
    {
        return work(6);
    }

    function __get($name)
    {
        return work(7);
    }

    function __set($name, $value)
    {
        work(8);
    }

    function __toString(): string
    {
        return (string) work(9);
    }

    function __invoke($x)
    {
        return work(3) + $x;
    }
}

class Server extends Base implements \ArrayAccess, \IteratorAggregate, \Countable
{
    use Counting {
        count as protected counted;
        made as fabricated;
    }

    function count(): int
    {
        return $this->counted() & 7;
    }

    function handle(int $n): int
    {
        if ($n <= 0) {
            return $this->missing(1) + self::alsoMissing() + $this->nothing;
        }
        $this->nothing = 4;
        return $this->handle($n - 1)
            + static::fabricated();
    }

    function offsetExists($o): bool
    {
        return work(2) > 0;
    }

    #[\ReturnTypeWillChange]
    function offsetGet($o)
    {
        return work(4);
    }

    function offsetSet($o, $v): void
    {
        work(5);
    }

    function offsetUnset($o): void
    {
        work(6);
    }

    function getIterator(): \Iterator
    {
        return new \ArrayIterator([work(2), work(3)]);
    }
}

class Ends
{
    public $next;

    function __destruct()
    {
        work(12);
        $this->next = null;
    }
}

function numbers(int $n)
{
    try {
        for ($i = 0; $i < $n; $i++) {
            work(3);
            yield $i => $i;
        }
    } finally {
        work(4);
    }
    return $n;
}

function delegated(int $n)
{
    $x = yield from numbers($n);
    work(5);
    if ($n > 1) {
        $x += yield from delegated($n - 1);
    }
    yield 17;
    return $x;
}

function throwing(int $n)
{
    $local = new Ends;
    try {
        if ($n == 0) {
            throw new \LogicException("deep");
        }
        throwing($n - 1);
    } finally {
        work(6);
    }
}

function callbacks(Server $s)
{
    $a = array_map(fn($x) => work($x) + 1, [3, 4, 5]);
    usort($a, static function ($x, $y) {
        return work(2) * 0 + ($x <=> $y);
    });
    preg_replace_callback('/[a-c]/', function ($m) {
        return strrev($m[0]) . work(3);
    }, "abcabc");
    array_walk($a, [$s, 'walked']);
    array_filter([1, 2], 'Shop\work');
    call_user_func_array([Server::class, 'fabricated'], []);
    call_user_func('Shop\Server::any');
    array_map($s, [1]);
    array_map('strtoupper', ["a", "b"]);
    array_map(null, [1], [2]);
    iterator_to_array(delegated(2), false);
    iterator_apply($it = new \ArrayIterator([1, 2]), fn() => work(3) > 0);
    if (function_exists('oracle_call')) {
        \oracle_call(function () {
            \oracle_call('Shop\callee');
        });
    }
    return count($s) + isset($s[1]) + $s[2];
}

function callee()
{
    return work(8);
}

function dynamic(int $n)
{
    $f = 'Shop\deep';
    $f($n);
    eval('namespace Shop; work(3);
        evaluated(2);');
    (new class(3) {
        function __construct($n)
        {
            work($n);
        }

        function run()
        {
            $f = function () {
                return (fn() => work(5))();
            };
            return $f();
        }
    })->run();
    include __DIR__ . '/included.php';
    \Closure::fromCallable('Shop\work')(3);
    \Closure::bind(function () {
        return work(2) + count($this);
    }, new Server, Server::class)();
    spl_autoload_call('Shop\Absent');
}

function evaluated($n)
{
    work($n);
}

function collected()
{
    $a = new Ends;
    $b = new Ends;
    $a->next = $b;
    $b->next = $a;
    unset($a, $b);
    gc_collect_cycles();
}

function fibers()
{
    if (!class_exists('Fiber')) {
        return;
    }
    $f = new \Fiber(function ($x) {
        work($x);
        deep(2);
        $y = \Fiber::suspend(work(3));
        array_map(function ($z) {
            return \Fiber::suspend($z) + work(4);
        }, [1, 2]);
        foreach (numbers(2) as $n) {
            work($n);
        }
    });
    $f->start(5);
    while (!$f->isTerminated()) {
        work(2);
        $f->resume(3);
    }
}

set_error_handler(function ($number, $text) {
    return work(4) > 0;
});
spl_autoload_register(function ($class) {
    work(3);
});
ob_start(function ($text) {
    return "";
});

class Sorted extends \SplMinHeap
{
    protected function compare($a, $b): int
    {
        return work(1) * 0 + $b - $a;
    }
}

function main(int $rounds)
{
    $s = new Server;
    for ($i = 0; $rounds == 0 || $i < $rounds; $i++) {
        deep(30);
        $s->handle(4);
        callbacks($s);
        dynamic(3);
        foreach (delegated(3) as $k => $v) {
            work(2);
        }
        foreach ($s as $v) {
            work(2);
        }
        try {
            throwing(4);
        } catch (\LogicException $e) {
            work(3);
        }
        collected();
        fibers();
        $text = "$s" . $undefined;
        $s[1] = 4;
        unset($s[1]);
        $h = new Sorted;
        foreach ([3, 1, 2] as $x) {
            $h->insert($x);
        }
        serialize([1, 2, [3, new \ArrayObject([4])]]);
        (new \ReflectionFunction('Shop\callee'))->invoke();
        str_repeat("x", 10000);
        md5(str_repeat("x", 100));
    }
}

fwrite(STDOUT, "ready\n");
main((int) ($argv[1] ?? 0));
