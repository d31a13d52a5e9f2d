package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
	"storozh/db/dbtest"
)

// launched is a `web` process of a benchmark.
type launched struct {
	cmd   *exec.Cmd
	ready time.Duration // from the start to the first 200 of /readyz
	errs  *bytes.Buffer
}

// launch starts a process and waits until it is ready.
func launch(b *testing.B, home string, env ...string) *launched {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), startLimit)
	b.Cleanup(cancel)
	l := &launched{cmd: exec.CommandContext(ctx, binary), errs: &bytes.Buffer{}}
	l.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + cache, "STOROZH_ADDR=" + addr, "TMPDIR=" + os.TempDir(),
		"STOROZH_OWNER_TOKEN=owner-token-of-the-benchmark", "STOROZH_CLAUDE_TOKEN=claude-token-of-the-benchmark"}, env...)
	l.cmd.Stderr = l.errs
	began := time.Now()
	if err := l.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for {
		res, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				l.ready = time.Since(began)
				return l
			}
		}
		if ctx.Err() != nil || time.Since(began) > startLimit || l.cmd.ProcessState != nil {
			b.Fatalf("it did not start: %v\n%s", err, l.errs)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// end is Ctrl-C.
func (l *launched) end(b *testing.B) {
	b.Helper()
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := l.cmd.Wait(); err != nil {
		b.Errorf("after Ctrl-C: %v\n%s", err, l.errs)
	}
}

// BenchmarkStart measures the real process, on the embedded Postgres and, with STOROZH_TEST_DATABASE_URL, on a native one: ms from the start
// to the first 200 of /readyz, the first time (an empty data folder or database) and again; MiB of memory two seconds later, of `web` and of
// the embedded Postgres; MiB of the binary, as built and stripped. STOROZH_BENCH_COLD=1 adds the very first start of all, with no npm package
// in the cache, which downloads them.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		home := b.TempDir()
		if os.Getenv("STOROZH_BENCH_COLD") != "" {
			cold := launch(b, b.TempDir(), "XDG_CACHE_HOME="+b.TempDir())
			b.ReportMetric(float64(cold.ready.Milliseconds()), "embedded-cold-ms")
			cold.end(b)
		}
		starts(b, "embedded", home)
		if dbtest.Native() {
			starts(b, "native", b.TempDir(), "DATABASE_URL="+dbtest.DSN(b))
		}
		b.ReportMetric(mib(size(b, binary)), "binary-MiB")
		stripped := filepath.Join(home, "stripped")
		if out, err := exec.CommandContext(b.Context(), "go", "build", "-ldflags=-s -w", "-o", stripped, ".").CombinedOutput(); err != nil {
			b.Fatalf("build: %v\n%s", err, out)
		}
		b.ReportMetric(mib(size(b, stripped)), "binary-stripped-MiB")
	}
	b.ReportMetric(0, "ns/op")
}

func starts(b *testing.B, name, home string, env ...string) {
	b.Helper()
	for _, again := range []string{"first", "again"} {
		l := launch(b, home, env...)
		b.ReportMetric(float64(l.ready.Milliseconds()), name+"-"+again+"-ms")
		if again == "again" {
			time.Sleep(2 * time.Second)
			b.ReportMetric(mib(resident(l.cmd.Process.Pid)), name+"-web-MiB")
			if node := child(l.cmd.Process.Pid); node != 0 {
				b.ReportMetric(mib(resident(node)), name+"-node-MiB")
			}
		}
		l.end(b)
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func size(b *testing.B, file string) int64 {
	b.Helper()
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// status reads a number of /proc/PID/status; 0 where there is none.
func status(pid int, name string) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.SplitSeq(string(raw), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name+":" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

func resident(pid int) int64 { return status(pid, "VmRSS") << 10 }

// child is a process that pid started; 0: none.
func child(pid int) int {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if n, err := strconv.Atoi(filepath.Base(p)); err == nil && status(n, "PPid") == int64(pid) {
			return n
		}
	}
	return 0
}

// What BenchmarkInstances does: how long each number of processes works at full speed, and when that begins, for a worker looks every two
// seconds for what other processes queued.
const (
	instancesTime  = 6 * time.Second
	instancesSetIn = 2500 * time.Millisecond
	runsPerProcess = 90
)

// BenchmarkInstances has one, two and four processes work off runs of one native Postgres, with a model that takes 100 ms per answer and has
// room for all. It reports runs per second, and how that stands to one process.
func BenchmarkInstances(b *testing.B) {
	if !dbtest.Native() {
		b.Skip("set STOROZH_TEST_DATABASE_URL: the embedded Postgres serves one process")
	}
	model := llmtest.Start(b, func(f *llmtest.Faults) {
		f.Delay = 100 * time.Millisecond
		f.Answer = func(string) string { return `{"reason":"another subject","label":"ok"}` }
	})
	for b.Loop() {
		one := 0.0
		for _, n := range []int{1, 2, 4} {
			rate := instances(b, n, model.URL)
			if n == 1 {
				one = rate
			}
			b.ReportMetric(rate, fmt.Sprintf("runs/s-with-%d", n))
			b.ReportMetric(rate/one, fmt.Sprintf("x-with-%d", n))
		}
	}
	b.ReportMetric(0, "ns/op")
}

func instances(b *testing.B, n int, model string) float64 {
	b.Helper()
	dsn, d := dbtest.DSN(b), dbtest.Open(b)
	home := b.TempDir()
	shield := filepath.Join(home, "ecosystem", core.Shield)
	if err := os.MkdirAll(filepath.Join(shield, "invariants"), 0o755); err != nil {
		b.Fatal(err)
	}
	var corpus strings.Builder
	for i := range 50 {
		fmt.Fprintf(&corpus, "#%d [style] [O] rule number %d of part %d holds | Why: it was learnt\n", i, i*i, i*7)
	}
	if err := os.WriteFile(filepath.Join(shield, "invariants", "core.txt"), []byte(corpus.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "state"}} {
		if out, err := exec.CommandContext(b.Context(), "git", append([]string{"-C", shield}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var all []*launched
	for range n {
		all = append(all, launch(b, b.TempDir(), "DATABASE_URL="+dsn, "STOROZH_LLM_URL="+model, "STOROZH_ECOSYSTEM_DIR="+filepath.Dir(shield)))
	}
	for i := range runsPerProcess * n {
		raw := fmt.Appendf(nil, `{"sessionId":"s%[1]d","timestamp":"2026-05-01T12:00:00Z","repos":[{"name":"shield","dir":"/none","files":["lessons/%[1]d.md"],"diff":"diff --git a/lessons/%[1]d.md b/lessons/%[1]d.md\nnew file mode 100644\n--- /dev/null\n+++ b/lessons/%[1]d.md\n@@ -0,0 +1,3 @@\n+# Lesson %[1]d\n+\n+What number %[1]d of %[2]d processes taught.\n"}]}`, i, n)
		arr, _, err := manifest.Arrive(raw, core.SourceWebhook, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Submit(b.Context(), arr); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(instancesSetIn)
	done := func() (n int) {
		if err := d.SQL().QueryRow("SELECT count(*) FROM runs WHERE status = 'done'").Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	before, began := done(), time.Now()
	time.Sleep(instancesTime)
	after, took := done(), time.Since(began)
	if after == runsPerProcess*n {
		b.Errorf("%d processes ran out of work: %d runs are too few", n, after)
	}
	for _, l := range all {
		l.end(b)
	}
	return float64(after-before) / took.Seconds()
}
