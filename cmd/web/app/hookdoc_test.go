package app

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"storozh/core"
)

// hookBlocks are the shell lines that the documentation gives for a Stop hook.
func hookBlocks(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/mirabilis-webhook.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, part := range strings.Split(string(text), "\n```sh\n")[1:] {
		block, _, ok := strings.Cut(part, "\n```")
		if !ok {
			t.Fatal("a block has no end")
		}
		blocks = append(blocks, block+"\n")
	}
	return blocks
}

// runHook runs such lines as a hook of a strict shell does, in a home folder of their own.
func runHook(t *testing.T, block, home, url string) (took time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", block)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "STOROZH_URL=" + url}
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("the hook failed or spoke: %v %s", err, out)
	}
	return time.Since(began)
}

func hookHome(t *testing.T, secret string, manifest []byte) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, ".claude", "storozh-webhook-secret"), []byte(secret+"\n"))
	writeFile(t, filepath.Join(home, ".claude", "changeset-manifest.json"), manifest)
	return home
}

// The documented lines deliver a manifest from a plain shell, with the secret that Storozh makes at its first start.
func TestDocumentedHookLinesDeliver(t *testing.T) {
	a := idleApp(t, func(c *Config) { c.WebhookSecrets = nil })
	secrets, _, err := a.webhookSecrets()
	if err != nil {
		t.Fatal(err)
	}
	url := serveWeb(t, a)
	blocks := hookBlocks(t)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks: one by bearer secret and one signed are documented", len(blocks))
	}
	for i, way := range []string{"by bearer secret", "signed"} {
		t.Run(way, func(t *testing.T) {
			raw := []byte(`{"sessionId":"` + way + `","repos":null,"note":"Ж \"quoted\" 100%"}`)
			home := hookHome(t, secrets[0], raw)
			runHook(t, blocks[i], home, url)
			if log, _ := os.ReadFile(filepath.Join(home, "storozh-webhook.log")); len(log) > 0 {
				t.Errorf("curl said: %s", log)
			}
			sum := sha256.Sum256(raw)
			id, err := a.db.ManifestByContent(t.Context(), sum)
			if err != nil {
				t.Fatal(err)
			}
			if stored, err := a.db.RawManifest(t.Context(), id); err != nil || !bytes.Equal(stored, raw) {
				t.Errorf("stored %q (%v)", stored, err)
			}
			list, _, err := a.db.ListDeliveries(t.Context(), "", 10)
			if err != nil || len(list) != i+1 || list[0].Verdict != core.DeliveryAccepted || len(list[0].DeliveryID) != 32 {
				t.Fatalf("%+v %v", list, err)
			}
			if _, bearer := list[0].Headers["Authorization"]; bearer == (way == "signed") {
				t.Errorf("headers %v", list[0].Headers)
			}
			if left, _ := filepath.Glob(filepath.Join(home, "tmp.*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Whatever is wrong, a Stop hook goes on.
func TestDocumentedHookLinesNeverFail(t *testing.T) {
	a := idleApp(t, nil)
	url := serveWeb(t, a)
	for i, block := range hookBlocks(t) {
		for name, tc := range map[string]struct{ url, secret string }{
			"refused":       {url, "whsec_c29tZWJvZHkgZWxzZSdzIGtleQ=="},
			"odd secret":    {url, "%s \" \\ not base64"},
			"nobody there":  {"http://127.0.0.1:1", testSecret},
			"no such name":  {"http://storozh.invalid:8787", testSecret},
			"no secret yet": {url, ""},
		} {
			t.Run(fmt.Sprint(i, " ", name), func(t *testing.T) {
				t.Parallel()
				home := hookHome(t, tc.secret, []byte(`{}`))
				if name == "no secret yet" {
					_ = os.RemoveAll(filepath.Join(home, ".claude"))
				}
				if took := runHook(t, block, home, tc.url); took > 40*time.Second {
					t.Errorf("the hook was held for %s", took)
				}
				if log, err := os.ReadFile(filepath.Join(home, "storozh-webhook.log")); err != nil || len(log) == 0 {
					t.Error("nothing says why")
				} else if tc.secret != "" && bytes.Contains(log, []byte(tc.secret)) {
					t.Error("the log holds the secret")
				}
			})
		}
	}
}
