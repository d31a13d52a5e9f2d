package app

import (
	"net/http"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"storozh/core"
)

// Under the watched name stands what is no file of a manifest's size: reading it would never end, or take all memory. Deliveries are taken all
// the same, and the watch goes on.
func TestWhatIsNoFileIsNotRead(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"a pipe that nobody writes to": func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a device without an end":      func(path string) error { return os.Symlink("/dev/zero", path) },
		"a file of 10 GB": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 10<<30)
		},
		"a link to itself": func(path string) error { return os.Symlink(path, path) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, newEco(t), nil, nil)
			path := a.cfg.ManifestPath
			if err := place(path); err != nil {
				t.Fatal(err)
			}
			watching(t, a)
			if r := post(t, serveWeb(t, a)+hookURL, []byte(`{"sessionId":"posted","repos":null}`), bearerID("posted")...); r.status != http.StatusAccepted {
				t.Fatalf("a delivery: %+v", r)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, []byte(`{"sessionId":"watched","repos":null}`))
			settled(t, "the manifest of a file in its place", func() bool {
				recs, _, err := a.db.Records(t.Context(), core.RecordQuery{})
				return err == nil && len(recs) == 2 && recs[0].SessionID == "watched"
			})
		})
	}
}
