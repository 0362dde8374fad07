// Package debuginfod finds debug files in the cache that elfutils' clients of debuginfod servers
// share: what gdb, eu-stack and others have fetched is found here, and the other way round.
//
// In goes a build ID; out comes the path of a debug file. The environment says where the cache is
// and which servers there are ([FromEnvironment]), by the variables of debuginfod-find(1). Package
// [github.com/sfwalk/sfwalk/internal/debuginfod/fetch] asks the servers; this one needs no network,
// and no net/http.
package debuginfod
