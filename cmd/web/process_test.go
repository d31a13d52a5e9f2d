package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"storozh/core/manifest"
	"storozh/db/dbtest"
)

var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "storozh-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "web")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	defer stopChrome()
	return dbtest.Run(m)
}

// startLimit bounds a process of a test, the first set-up of the embedded Postgres and all that the test does with it included: it is only there so that
// a broken test ends, however busy the machine.
const startLimit = 20 * time.Minute

// machine is a newcomer's: a home folder of its own with nothing in it. The cache of npm packages is shared with the other tests.
type machine struct {
	t    *testing.T
	home string
	addr string
	env  []string
}

func newMachine(t *testing.T, env ...string) machine {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	m := machine{t: t, home: home, addr: addr}
	m.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + cache, "STOROZH_ADDR=" + addr, "TMPDIR=" + os.TempDir()}, env...)
	return m
}

func (m machine) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	m.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = m.env
	return cmd
}

// web runs a command to its end.
func (m machine) web(args ...string) (stdout, stderr string, err error) {
	m.t.Helper()
	cmd := m.command(args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// running is a started dashboard.
type running struct {
	machine
	cmd   *exec.Cmd
	lines []string // what the start printed
	rest  chan struct{}
	errs  *bytes.Buffer
}

func (m machine) start() *running {
	m.t.Helper()
	r := &running{machine: m, cmd: m.command(), rest: make(chan struct{}), errs: &bytes.Buffer{}}
	r.cmd.Stderr = r.errs
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	scan := bufio.NewScanner(out)
	for scan.Scan() {
		r.lines = append(r.lines, scan.Text())
		if strings.Contains(scan.Text(), "watching ") {
			break
		}
	}
	go func() {
		defer close(r.rest)
		_, _ = io.Copy(io.Discard, out)
	}()
	if len(r.lines) == 0 {
		_ = r.cmd.Wait()
		m.t.Fatalf("it did not start: %s", r.errs)
	}
	return r
}

// interrupt is Ctrl-C; it returns once the process has ended.
func (r *running) interrupt() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		r.t.Fatal(err)
	}
	<-r.rest
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("after Ctrl-C: %v\n%s", err, r.errs)
	}
	if left := processesOf(r.t, r.home); len(left) > 0 {
		r.t.Errorf("left behind: %v", left)
	}
}

// processesOf lists live processes whose command line names a folder.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range procs {
		if line, err := os.ReadFile(p); err == nil && bytes.Contains(line, []byte(dir)) {
			out = append(out, p+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return out
}

func (r *running) link(who string) string {
	r.t.Helper()
	for _, l := range r.lines {
		if m := regexp.MustCompile(`sign in as ` + who + ` .*(http\S+)`).FindStringSubmatch(l); m != nil {
			return m[1]
		}
	}
	r.t.Fatalf("no sign-in link of %s in %q", who, r.lines)
	return ""
}

// browser is a client with cookies that sends what a browser sends with a form of our own pages.
type browser struct {
	t    *testing.T
	base string
	c    *http.Client
}

func (r *running) browser() browser {
	jar, _ := cookiejar.New(nil)
	return browser{r.t, "http://" + r.addr, &http.Client{Jar: jar, Timeout: time.Minute}}
}

func (b browser) do(method, url string) (int, string, string) {
	b.t.Helper()
	if !strings.HasPrefix(url, "http") {
		url = b.base + url
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, url, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := b.c.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Request.URL.Path
}

// From nothing to a reviewed sample: one command, one link, one click. Then everything again after a restart.
func TestANewcomersFirstHour(t *testing.T) {
	m := newMachine(t, databaseFor(t)...)
	r := m.start()
	b := r.browser()
	if code, body, _ := b.do("GET", r.link("owner")); code != http.StatusOK || !strings.Contains(body, "Sign in with this link") {
		t.Fatalf("sign-in page: %d %s", code, body)
	}
	if code, body, path := b.do("POST", r.link("owner")); code != http.StatusOK || path != "/" || !strings.Contains(body, "/sample") {
		t.Fatalf("after signing in: %d %s %s", code, path, body)
	}
	code, body, page := b.do("POST", "/sample")
	if code != http.StatusOK || !strings.HasPrefix(page, "/manifests/") {
		t.Fatalf("the sample: %d %s %s", code, page, body)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(body, "5 units: 1 misroute, 2 contra, 1 dup") && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		_, body, _ = b.do("GET", page)
	}
	if !strings.Contains(body, "5 units: 1 misroute, 2 contra, 1 dup") || !strings.Contains(strings.ToLower(body), "demo model") {
		t.Fatalf("the sample's page: %s", body)
	}
	out, errs, err := m.web("login", "claude")
	if err != nil || !strings.HasPrefix(out, "http://"+m.addr+"/login/") {
		t.Errorf("a new link: %q %s %v", out, errs, err)
	}
	r.interrupt()

	again := m.start()
	if len(again.lines) == 0 || strings.Contains(strings.Join(again.lines, "\n"), "API token") {
		t.Errorf("the second start prints %q", again.lines)
	}
	if _, body, _ := b.do("GET", page); !strings.Contains(body, "2 contra") {
		t.Error("session or sample did not survive the restart")
	}
	again.interrupt()
}

// databaseFor gives the environment for the database under test: none for the embedded one.
func databaseFor(t *testing.T) []string {
	t.Helper()
	if !dbtest.Native() {
		return nil
	}
	return []string{"DATABASE_URL=" + dbtest.DSN(t)}
}

func TestCheckFromTheCommandLine(t *testing.T) {
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL=http://127.0.0.1:9/v1")...)
	file := filepath.Join(m.home, "m.json")
	raw := []byte(`{"sessionId":"s","timestamp":"2026-05-01T12:00:00Z","big":9007199254740993,"r":1e400,"repos":[{"name":"neuro-matrix","dir":"/x",` +
		`"diff":"diff --git a/lessons/a.md b/lessons/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/lessons/a.md\n@@ -0,0 +1 @@\n+Rest is work too.","files":["lessons/a.md","lessons/b.md"]}]}`)
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, err := m.web("check", file)
	if err != nil {
		t.Fatalf("flags are no failure: %v\n%s", err, errs)
	}
	const bluf = "1 unit: 1 misroute; contra-check: skipped (localllm unreachable); 1 file not in the diff\n"
	if !strings.HasPrefix(out, bluf) || !strings.Contains(out, "is in neuro-matrix, belongs in shield (cross-lane)") || !strings.Contains(out, "file: written") {
		t.Errorf("it prints:\n%s", out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if without, err := manifest.Strip(b); err != nil || !bytes.Equal(without, raw) || bytes.Equal(b, raw) {
		t.Errorf("the file became %s", b)
	}
	piped := m.command("check", "/dev/stdin")
	piped.Stdin = bytes.NewReader(bytes.Replace(raw, []byte(`"s"`), []byte(`"piped"`), 1))
	if out, err := piped.Output(); err != nil || !strings.HasPrefix(string(out), bluf) || !strings.Contains(string(out), "file: off\n") {
		t.Errorf("by a pipe: %v\n%s", err, out)
	}
	if err := os.WriteFile(file, raw[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := m.web("check", file); err == nil || !strings.Contains(errs, file) || !strings.Contains(errs, "line 1") {
		t.Errorf("a truncated manifest: %v %s", err, errs)
	}
	if _, errs, err := m.web("check", filepath.Join(m.home, "none.json")); err == nil || !strings.Contains(errs, "none.json") {
		t.Errorf("a missing file: %v %s", err, errs)
	}
}

func TestOneClearErrorWhereItCannotStart(t *testing.T) {
	noNode := t.TempDir()
	for _, tool := range []string{"git"} {
		p, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(p, filepath.Join(noNode, tool)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		want []string
	}{
		{"no Node", []string{"PATH=" + noNode}, nil, []string{"Node", "DATABASE_URL"}},
		{"no database", []string{"DATABASE_URL=postgres://u:hunter2@127.0.0.1:9/x?sslmode=disable"}, nil, []string{"does not answer", "DATABASE_URL"}},
		{"a bad number", []string{"STOROZH_K=many"}, nil, []string{"STOROZH_K", "1 to 50"}},
		{"a bad model address", []string{"STOROZH_LLM_URL=localhost"}, nil, []string{"STOROZH_LLM_URL"}},
		{"a bad command", nil, []string{"guard"}, []string{"usage"}},
		{"one token for two", []string{"STOROZH_OWNER_TOKEN=sixteen-letters-or-more", "STOROZH_CLAUDE_TOKEN=sixteen-letters-or-more"}, nil, []string{"STOROZH_CLAUDE_TOKEN", "differ"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, errs, err := newMachine(t, tt.env...).web(tt.args...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || out != "" {
				t.Fatalf("ended with %v, printed %q", err, out)
			}
			for _, w := range tt.want {
				if !strings.Contains(errs, w) {
					t.Errorf("the error does not say %q: %s", w, errs)
				}
			}
			if strings.Contains(errs, "hunter2") || strings.Contains(errs, "goroutine ") {
				t.Errorf("the error says too much: %s", errs)
			}
		})
	}
}

// A kill of the process leaves no database behind that holds the folder: the next start works.
func TestStartAfterKill(t *testing.T) {
	if dbtest.Native() {
		t.Skip("only the embedded Postgres has a child process; the embedded run covers it")
	}
	m := newMachine(t)
	r := m.start()
	if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.rest
	_ = r.cmd.Wait()
	m.start().interrupt()
}
