package units

import (
	"testing"
	"unicode/utf8"

	"storozh/core"
)

func FuzzDerive(f *testing.F) {
	f.Add(edited("a/invariants.txt", "b/invariants.txt"), "invariants.txt", "x\n")
	f.Add("diff --git a/lessons/n.md b/lessons/n.md\nnew file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ b/lessons/n.md\n@@ -0,0 +1,2 @@\n+# N\n+- b", `old.md"`, "")
	f.Add("diff --git a/claims/c.ttl b/claims/c.ttl\nindex 1111111..2222222 100644\n--- a/claims/c.ttl\n+++ b/claims/c.ttl\n@@ -1,2 +1,2 @@\n ex:a ex:b \"c\" .\n-ex:d ex:e \"f\" .\n+ex:d ex:e \"g\" .", `"\320\277"`, "ex:a ex:b \"c\" .\nex:d ex:e \"f\" .\n")
	f.Fuzz(func(t *testing.T, diff, file, head string) {
		for _, known := range []bool{true, false} {
			d := Derive(core.Manifest{Repos: []core.Repo{{Name: "shield", Diff: diff, Files: []string{file}}}}, Options{
				Classify: byFolder,
				Head:     func(_, _, _ string) (string, bool) { return head, known },
			})
			seen := map[string]bool{}
			for _, u := range d.Units {
				if seen[u.ID] || u.Type == "" || u.Action == "" {
					t.Fatalf("unit %+v", u)
				}
				seen[u.ID] = true
				if u.StartLine > u.EndLine || len(u.Normative) > maxNormative {
					t.Fatalf("unit %s has lines %d–%d, %d bytes", u.ID, u.StartLine, u.EndLine, len(u.Normative))
				}
				if utf8.ValidString(diff) && utf8.ValidString(head) && !utf8.ValidString(u.Text+u.Diff+u.ID) {
					t.Fatalf("unit %s has broken text", u.ID)
				}
				if u.Action == core.Removed && u.Normative != "" {
					t.Fatalf("removed unit %s binds", u.ID)
				}
			}
		}
	})
}
