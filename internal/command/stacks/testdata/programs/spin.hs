-- Code that GHC has compiled, garbage collection and C's part of the run time.
import qualified Data.List as L

step :: Int -> Int
step n = L.foldl' (\a x -> (a * 31 + x) `mod` 1000003) n (L.sort [(n * k) `mod` 997 | k <- [1 .. 500]])

main :: IO ()
main = loop 1
  where loop n = loop $! step n
