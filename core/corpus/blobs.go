package corpus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"storozh/core"
)

// visitor gets each object once: its content, or the problem with it.
type visitor func(id string, data []byte, problem string)

// each visits objects in order. In a partial clone git fetches what is missing from the promisor remote; if that fails or takes too
// long git dies at that object, and the second pass leaves out what this clone does not hold.
func (r *Repo) each(ctx context.Context, ids []string, maxBytes int64, visit visitor) error {
	for _, id := range ids {
		if !isID(id) {
			return fmt.Errorf("%w: %q is no object id", core.ErrInvalid, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	first, stop := context.WithTimeout(ctx, fetchTime)
	done, err := r.pass(first, ids, maxBytes, visit)
	stop()
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrNoGit) {
		return err
	}
	missing, missErr := r.missing(ctx)
	if missErr != nil || len(missing) == 0 {
		return err
	}
	var rest []string
	for _, id := range ids[done:] {
		if missing[id] {
			visit(id, nil, "its content is not in this clone and can't be fetched: "+err.Error())
		} else {
			rest = append(rest, id)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	_, err = r.pass(ctx, rest, maxBytes, visit)
	return err
}

// pass runs one git process over ids and returns how many it answered.
func (r *Repo) pass(ctx context.Context, ids []string, maxBytes int64, visit visitor) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, stderr, err := r.command(ctx, "cat-file", "--batch")
	if err != nil {
		return 0, err
	}
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, fmt.Errorf("git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("git cat-file: %w", err)
	}
	in := bufio.NewReaderSize(out, 64<<10)
	for i, id := range ids {
		if bad := readObject(in, id, maxBytes, visit); bad != nil {
			if bad != io.EOF {
				stop() // git may be writing still
			}
			if err := cmd.Wait(); err != nil {
				return i, failure(ctx, "cat-file", err, stderr)
			}
			return i, fmt.Errorf("git cat-file: the answer for %s: %w", id, bad)
		}
	}
	if err := cmd.Wait(); err != nil {
		return len(ids), failure(ctx, "cat-file", err, stderr)
	}
	return len(ids), nil
}

// readObject reads one answer: `<id> blob <size>`, the content and a line end, or `<id> missing`.
func readObject(in *bufio.Reader, id string, maxBytes int64, visit visitor) error {
	head, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	f := strings.Fields(string(head))
	if len(f) == 2 && f[1] == "missing" {
		visit(id, nil, "its content is missing from the repository")
		return nil
	}
	if len(f) != 3 || f[0] != id {
		return fmt.Errorf("unexpected line %.80q", head)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return fmt.Errorf("unexpected size in %.80q", head)
	}
	if size > maxBytes || f[1] != "blob" {
		if _, err := io.CopyN(io.Discard, in, size+1); err != nil {
			return err
		}
		if f[1] != "blob" {
			visit(id, nil, "it is a "+f[1]+" and no file")
		} else {
			visit(id, nil, fmt.Sprintf("it has %d bytes; files above %d are not read", size, maxBytes))
		}
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return err
	}
	if _, err := in.Discard(1); err != nil {
		return err
	}
	visit(id, data, "")
	return nil
}

// missing lists the objects of HEAD's tree that this clone does not hold, without fetching them.
func (r *Repo) missing(ctx context.Context) (map[string]bool, error) {
	ctx, stop := context.WithTimeout(ctx, treeTime)
	defer stop()
	cmd, stderr, err := r.command(ctx, "rev-list", "--objects", "--no-object-names", "--no-walk", "--missing=print", "HEAD")
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("git rev-list: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("git rev-list: %w", err)
	}
	missing := make(map[string]bool)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "?"); ok {
			missing[id] = true
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, failure(ctx, "rev-list", err, stderr)
	}
	return missing, nil
}
