package app

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"storozh/core"
	"storozh/core/manifest"
)

// The sample ecosystem: what four small repos hold at HEAD (head), what an agent session changed and added to git's index (work), and
// a file that it left untracked (loose).
//
//go:embed sample
var sampleFiles embed.FS

// sampleTime is the sample's own clock: the same sample is the same manifest, however often it is run.
const sampleTime = "2026-01-05T09:00:00Z"

const sampleTimeLimit = time.Minute

func (a *App) sampleEcosystem() string { return filepath.Join(a.cfg.DataDir, "sample", "ecosystem") }

// RunSample makes the sample ecosystem as real git repos, takes its changeset manifest as mirabilis would, and submits it. It is always
// judged by the demo model and never written to a file.
func (a *App) RunSample(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeLimit)
	defer cancel()
	eco := a.sampleEcosystem()
	if err := buildSample(ctx, eco); err != nil {
		return 0, fmt.Errorf("sample: %w", err)
	}
	raw, err := harvest(ctx, eco, "sample", sampleTime)
	if err != nil {
		return 0, fmt.Errorf("sample: %w", err)
	}
	arr, _, err := manifest.Arrive(raw, core.SourceSample, "")
	if err != nil {
		return 0, fmt.Errorf("sample: %w", err)
	}
	r, err := a.Submit(ctx, arr)
	return r.ManifestID, err
}

// buildSample makes the repos in a folder beside and moves it into place, so that a half-made sample is never used.
func buildSample(ctx context.Context, eco string) error {
	if _, err := os.Stat(eco); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(eco), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(eco), "making-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	for _, repo := range []string{core.Shield, core.NeuroMatrix, core.Mirabilis, core.Darwin} {
		if err := buildRepo(ctx, filepath.Join(tmp, repo), repo); err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
	}
	if err := os.Rename(tmp, eco); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Stat(eco); there != nil {
			return err
		}
	}
	return nil
}

func buildRepo(ctx context.Context, dir, repo string) error {
	steps := []struct {
		layer string
		git   [][]string
	}{
		{"head", [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "What was known before"}}},
		{"work", [][]string{{"add", "-A", "-N"}}},
		{"loose", nil},
	}
	for _, s := range steps {
		if err := copyLayer(dir, path.Join("sample", s.layer, repo)); err != nil {
			return err
		}
		for _, args := range s.git {
			if _, err := git(ctx, dir, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyLayer(dir, from string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := fs.WalkDir(sampleFiles, from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, from+"/")))
		text, err := sampleFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // this repo has nothing in this layer
	}
	return err
}

// harvest takes a changeset manifest of a folder of repos, in the form of C1 as mirabilis writes it.
func harvest(ctx context.Context, eco, session, stamp string) ([]byte, error) {
	type repo struct {
		Name  string   `json:"name"`
		Dir   string   `json:"dir"`
		Diff  string   `json:"diff"`
		Files []string `json:"files"`
	}
	var m struct {
		SessionID string `json:"sessionId"`
		Timestamp string `json:"timestamp"`
		Repos     []repo `json:"repos"`
		Session   struct {
			Transcript string `json:"transcriptMinusTools"`
		} `json:"session"`
	}
	m.SessionID, m.Timestamp = session, stamp
	m.Session.Transcript = "user: write down what we learned today\nassistant: done, please review"
	dirs, err := os.ReadDir(eco)
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		dir := filepath.Join(eco, d.Name())
		diff, err := git(ctx, dir, "diff", "HEAD")
		if err != nil {
			return nil, err
		}
		status, err := git(ctx, dir, "status", "--porcelain")
		if err != nil {
			return nil, err
		}
		r := repo{Name: d.Name(), Dir: dir, Diff: strings.TrimSuffix(diff, "\n"), Files: []string{}}
		for _, line := range strings.Split(status, "\n") {
			if len(line) > 3 {
				r.Files = append(r.Files, line[3:])
			}
		}
		if r.Diff != "" || len(r.Files) > 0 {
			m.Repos = append(m.Repos, r)
		}
	}
	return json.MarshalIndent(m, "", "  ")
}

// git runs git without the user's settings, so that the sample is the same everywhere.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	exe, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("git is not installed, and Storozh reads the repos with it: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, append([]string{"-c", "core.autocrlf=false", "-c", "safe.directory=*", "-C", dir}, args...)...)
	cmd.Env = []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_AUTHOR_NAME=sample", "GIT_AUTHOR_EMAIL=sample@example.org",
		"GIT_COMMITTER_NAME=sample", "GIT_COMMITTER_EMAIL=sample@example.org", "GIT_AUTHOR_DATE=" + sampleTime, "GIT_COMMITTER_DATE=" + sampleTime,
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
