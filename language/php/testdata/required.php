<?php
foreach ([1, 2] as $x) {
    \Shop\work($x +
        2);
}
