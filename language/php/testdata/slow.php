<?php
namespace Shop;

function report()
{
    file_put_contents(__DIR__ . '/pid', getmypid());
    sleep(1000);
}

report();
