work <- function(n = 20) {
  s <- 0
  for (i in seq_len(n)) {
    s <- s + sqrt(i)
    if (s > 1e6)
      s <- 0
  }
  s
}
recurse <- function(n) {
  if (n <= 0)
    return(work(5))
  work(2)
  recurse(n - 1) +
    work(1)
}
closures <- function() {
  make <- function(k) {
    function(x) {
      work(k)
      x + k
    }
  }
  add <- make(3)
  list(f = add)$f(2)
  holder <- list(add = add, other = list(add))
  holder$add(1)
  holder[["add"]](2)
  holder[[1]](3)
  (function(z) work(z))(4)
}
applies <- function() {
  sapply(1:3, function(i) {
    work(i)
  })
  Map(function(a, b) work(a + b), 1:2, 3:4)
  Reduce(function(a, b) {
    work(2)
    a + b
  }, 1:4)
  vapply(list(1, 2), work, numeric(1))
  do.call(work, list(3))
  do.call("recurse", list(2))
  outer(1:2, 1:2, Vectorize(function(a, b) work(a)))
  Filter(function(x) work(x) > 0, 1:2)
}
errors <- function() {
  r <- tryCatch({
    work(3)
    stop("oh")
  }, error = function(e) work(4), finally = work(2))
  withCallingHandlers({
    warning("hm")
    work(2)
  }, warning = function(w) {
    work(3)
    invokeRestart("muffleWarning")
  })
  try(log(-1:"a"), silent = TRUE)
}
lazy <- function(x, y = work(3)) {
  work(1)
  x
  y
}
promises <- function() {
  lazy(recurse(2))
  lazy({
    work(2)
    work(3)
  })
  delayedAssign("later", recurse(1))
  later
}
setClass("Account", representation(n = "numeric"))
setGeneric("balance", function(a, ...) standardGeneric("balance"))
setMethod("balance", "Account", function(a, ...) {
  work(a@n)
})
print.ours <- function(x, ...) {
  work(3)
  invisible(x)
}
summary.ours <- function(object, ...) {
  NextMethod()
  work(2)
}
"+.ours" <- function(e1, e2) work(4)
methods_of <- function() {
  balance(new("Account", n = 5))
  o <- structure(list(1), class = "ours")
  print(o)
  o + o
  summary(o)
}
evals <- function() {
  eval(quote(work(3)))
  eval(parse(text = "recurse(2)\nwork(3)", keep.source = TRUE))
  local({
    work(2)
    recurse(1)
  })
  evalq(work(1), new.env())
  Recall <- NULL
  sys.function()
  match.arg("a", c("a", "b"))
}
natives <- function() {
  optimize(function(x) {
    work(2)
    (x - 1)^2
  }, c(0, 2))
  integrate(function(x) {
    work(1)
    x^2
  }, 0, 1)
  sort(c(3, 1, 2), method = "quick")
  regmatches("abc", regexpr("b", "abc"))
  lapply(split(1:4, c(1, 1, 2, 2)), sum)
  stats::median(c(1, work(2)))
  base::identity(recurse(1))
}
garbage <- function() {
  x <- lapply(1:50, function(i) numeric(100))
  gc()
  length(x)
}
exits <- function() {
  on.exit({
    work(2)
    work(1)
  })
  work(3)
}
all <- list(work, function() recurse(8), closures, applies, errors, promises, methods_of, evals, natives, garbage, exits)
Rprof(args[1], line.profiling = TRUE)
.C("o_untimed")
cat("ready\n")
while (!file.exists(args[2])) {
  all[[sample.int(length(all), 1)]]()
}
Rprof(NULL)
