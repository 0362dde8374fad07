# The innermost call first, each with the place from which it was called.
tell <- function(calls) {
  for (call in rev(calls)) {
    f <- call[[1]]
    named <- is.symbol(f) || is.call(f) && as.character(f[[1]]) %in% c("::", ":::", "$")
    at <- attr(call, "srcref")
    cat(if (named) paste(deparse(f), collapse = "") else "<Anonymous>",
        if (is.null(at)) "#0" else paste0(attr(at, "srcfile")$filename, "#", at[1]), "\n")
  }
  cat("end\n")
}
rest <- function() {
  tell(sys.calls())
  .C("o_rest")
}
compiled <- compiler::cmpfun(function(n) {
  if (n > 0)
    compiled(n - 1)
  else
    (function() {
      tryCatch({
        rest()
      }, finally = 0)
    })()
})
deferred <- function(x) {
  1
  x
}
holder <- list(run = function(f) {
  deferred(base::sapply(1, function(i) f(3)))
})
back <- function(f) {
  .Call("o_call", f)
}
outer_one <- function() {
  for (i in 1) {
    holder$run(function(n) back(function() compiled(3)))
  }
}
outer_one()
