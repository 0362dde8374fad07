//go:build linux

// Command sfwalk-profiler is a continuous profiler in miniature: it samples a process for as long
// as that runs, and sends what it has found every few seconds, as pprof to a receiver such as
// Pyroscope, or as OTLP profiles to an OpenTelemetry collector.
//
//	sfwalk-profiler -to http://localhost:4040/ingest 4242
//	sfwalk-profiler -otlp -to http://localhost:4318/v1development/profiles -every 5s 4242
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/record"
)

func main() {
	to := flag.String("to", "", "the `URL` of the receiver")
	otlp := flag.Bool("otlp", false, "send OTLP profiles, not pprof")
	every := flag.Duration("every", 10*time.Second, "how often to send")
	frequency := flag.Int("F", record.UsualFrequency, "samples a second of each thread's time on a processor")
	flag.Parse()
	pid, err := strconv.Atoi(flag.Arg(0))
	if err != nil || *to == "" || *every <= 0 || *frequency <= 0 {
		fmt.Fprintln(os.Stderr, "usage: sfwalk-profiler -to URL [-otlp] [-every TIME] [-F FREQUENCY] PID")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := sender{client: http.Client{Timeout: 30 * time.Second}, url: *to, pid: pid}
	send := s.pprof
	if *otlp {
		send = s.otlp
	}
	if err := sample(ctx, pid, *frequency, *every, send); err != nil {
		fmt.Fprintln(os.Stderr, "sfwalk-profiler:", err)
		os.Exit(1)
	}
}
