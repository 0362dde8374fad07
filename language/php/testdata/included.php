<?php
namespace Shop;

work(4);
if (($argument = 2) > 1) {
    require __DIR__ . '/required.php';
}
return work(3);
