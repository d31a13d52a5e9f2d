package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const oldestNode = 20

// findNode returns the path of a Node.js that is new enough.
func findNode(ctx context.Context) (string, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", failure(ErrNoNode, waysOut, "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = serverEnv()
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("embedded postgres: %s --version: %w", path, ctx.Err())
	}
	if err != nil {
		return "", failure(ErrNoNode, waysOut, "%s --version: %w", path, err)
	}
	version := strings.TrimSpace(string(out))
	major, err := nodeMajor(version)
	if err != nil {
		return "", failure(ErrNoNode, waysOut, "%s --version: %w", path, err)
	}
	if major < oldestNode {
		return "", failure(ErrNodeTooOld, waysOut, "%s is %s, %d is needed", path, version, oldestNode)
	}
	return path, nil
}

// nodeMajor reads `v20.11.1` as 20.
func nodeMajor(version string) (int, error) {
	head, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	major, err := strconv.Atoi(head)
	if err != nil || !strings.HasPrefix(version, "v") {
		return 0, fmt.Errorf("unknown version %.40q", version)
	}
	return major, nil
}

// serverEnv is all the environment that the database needs: no secrets, and no NODE_OPTIONS that would change how it runs.
func serverEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// npmEnv is the environment for npm, which may need proxies, certificates and a registry of the user's choice, but not our secrets.
func npmEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "STOROZH_") && !strings.HasPrefix(kv, "DATABASE_URL=") {
			env = append(env, kv)
		}
	}
	return env
}
