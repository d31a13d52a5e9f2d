package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"storozh/core"
	"storozh/handlers"
)

// linkValid is how long a one-time sign-in link can be used.
const linkValid = time.Hour

// Token makes a random token: 160 bits, printable, with a prefix that tells a reader (and a secret scanner) what it is.
func token(kind string) string {
	b := make([]byte, 20)
	_, _ = rand.Read(b) // never fails
	return "storozh_" + kind + "_" + hex.EncodeToString(b)
}

// EnsureTokens makes sure that both cosigners have a token, and returns those that were made just now: the only time they can be shown.
func (a *App) EnsureTokens(ctx context.Context) (map[core.Cosigner]string, error) {
	made := map[core.Cosigner]string{}
	for c, given := range map[core.Cosigner]string{core.Owner: a.cfg.OwnerToken, core.Claude: a.cfg.ClaudeToken} {
		if given == "" {
			fresh := token(string(c))
			added, err := a.db.AddToken(ctx, c, sha256.Sum256([]byte(fresh))) // another process may start at the same time
			if err != nil {
				return nil, fmt.Errorf("token of %s: %w", c, err)
			}
			if added {
				made[c] = fresh
			}
			continue
		}
		if err := a.setToken(ctx, c, sha256.Sum256([]byte(given))); err != nil {
			return nil, fmt.Errorf("token of %s: %w", c, err)
		}
	}
	return made, nil
}

// setToken keeps a token. In place of another one it ends what that had opened: a token is changed because somebody else may have it.
func (a *App) setToken(ctx context.Context, c core.Cosigner, hash [32]byte) error {
	has, err := a.db.HasToken(ctx, c)
	if err != nil {
		return err
	}
	_, err = a.db.ByToken(ctx, hash)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return err
	}
	changed := has && err != nil
	if err := a.db.SetToken(ctx, c, hash); err != nil || !changed {
		return err
	}
	if err := a.db.DropLinks(ctx, c); err != nil {
		return err
	}
	n, err := a.db.Sessions(sessionLife, sessionIdle).EndAll(ctx, handlers.SessionsOf(c))
	a.log.Info("token changed: what the old one had opened is ended", "cosigner", c, "sessions", n)
	return err
}

// Link makes a one-time sign-in link for a cosigner.
func (a *App) Link(ctx context.Context, c core.Cosigner) (string, error) {
	if !c.Valid() {
		return "", fmt.Errorf("%w: sign-in is for owner or claude, not %q", core.ErrInvalid, c)
	}
	t := token("link")
	if err := a.db.AddLink(ctx, c, sha256.Sum256([]byte(t)), linkValid); err != nil {
		return "", err
	}
	return a.cfg.URL() + "/login/" + t, nil
}

// webhookSecrets gives the secrets that a sender may use. Without configured ones, one is made at first start and kept in a file that only
// the user can read; made tells that it is new.
func (a *App) webhookSecrets() (secrets []string, made bool, err error) {
	if len(a.cfg.WebhookSecrets) > 0 {
		return a.cfg.WebhookSecrets, false, nil
	}
	path := a.webhookSecretFile()
	b, err := os.ReadFile(path)
	if err == nil {
		if s := strings.TrimSpace(string(b)); s != "" {
			return []string{s}, false, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("webhook secret: %w", err)
	}
	key := make([]byte, 24)
	_, _ = rand.Read(key)                                  // never fails
	s := "whsec_" + base64.StdEncoding.EncodeToString(key) // signs, and is a bearer secret as it stands
	if err := os.WriteFile(path, []byte(s+"\n"), 0o600); err != nil {
		return nil, false, fmt.Errorf("webhook secret: %w", err)
	}
	return []string{s}, true, nil
}

func (a *App) webhookSecretFile() string { return filepath.Join(a.cfg.DataDir, "webhook-secret") }
