package localllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A request holds at most this many texts and bytes of text, so that it stays within a server's limits and a retry is cheap.
const (
	batchTexts = 64
	batchBytes = 256 << 10
)

// shortenings is how often one text that does not fit is halved before it is given up.
const shortenings = 8

// Embeddings is the vector of one text (C5).
func (c *Client) Embeddings(ctx context.Context, text string) ([]float32, error) {
	out, err := c.EmbedBatch(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// EmbedBatch is one vector per text, in the texts' order, all of one length; all of them or an error. A text that is too long for
// the model is embedded by its head: nearness is only a preselection, the judge reads the whole.
func (c *Client) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	names, err := c.names(ctx)
	if err != nil {
		return nil, err
	}
	return c.EmbedWith(ctx, names.Embed, texts)
}

// batchEnd is where the batch that begins at start ends; it holds at least one text.
func batchEnd(texts []string, start int) int {
	end, size := start, 0
	for end < len(texts) && end-start < batchTexts {
		size += len(texts[end])
		if end > start && size > batchBytes {
			break
		}
		end++
	}
	return end
}

// embedSome embeds one batch; one that does not fit is tried text by text, because a server does not say which text it was.
func (c *Client) embedSome(ctx context.Context, model string, texts []string) ([][]float32, error) {
	vectors, err := c.embedOnce(ctx, model, texts)
	if KindOf(err) != KindTooLong {
		return vectors, err
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		for try := 0; ; try++ {
			one, err := c.embedOnce(ctx, model, []string{text})
			if err == nil {
				out[i] = one[0]
				break
			}
			if KindOf(err) != KindTooLong || try == shortenings {
				return nil, err
			}
			r := []rune(text)
			text = string(r[:len(r)/2])
		}
	}
	return out, nil
}

// embedOnce is one request; an answer that makes no sense is asked for once more.
func (c *Client) embedOnce(ctx context.Context, model string, texts []string) ([][]float32, error) {
	in := map[string]any{"model": model, "input": texts}
	for try := 0; ; try++ {
		body, err := c.post(ctx, opEmbed, "/embeddings", in)
		if err != nil {
			return nil, err
		}
		vectors, err := readVectors(body, len(texts))
		if err == nil {
			err = c.sameLength(model, vectors)
		}
		if err == nil {
			return vectors, nil
		}
		if try > 0 {
			if errors.Is(err, errLength) {
				c.forgetLength(model)
			}
			return nil, &Error{Kind: KindMalformed, Op: opEmbed, Detail: oneLine(model + ": " + err.Error()), Err: err}
		}
	}
}

// readVectors pairs vectors with texts by `index` (case L3) and refuses what cannot be a text's vector.
func readVectors(body []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     *int       `json:"index"`
			Embedding []*float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the answer is not a list of float vectors: %w", err)
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(answer.Data), n)
	}
	out := make([][]float32, n)
	for i, d := range answer.Data {
		if d.Index == nil {
			if n > 1 {
				return nil, fmt.Errorf("vector %d has no index", i)
			}
			d.Index = new(int)
		}
		at := *d.Index
		if at < 0 || at >= n || out[at] != nil {
			return nil, fmt.Errorf("index %d is out of range or comes twice", at)
		}
		v, err := vector(d.Embedding)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", at, err)
		}
		out[at] = v
	}
	return out, nil
}

// The squared length of a vector that can be compared: pgvector sums squares in single precision, where what lies beyond comes out as zero or
// infinite, and the text as everybody's or nobody's neighbour.
const (
	minSquare = 1e-30
	maxSquare = 1e30
)

// vector refuses nulls, zero vectors, and numbers that are not finite or whose squares are not.
func vector(in []*float64) ([]float32, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("it is missing or empty")
	}
	out, sum := make([]float32, len(in)), 0.0
	for i, x := range in {
		if x == nil {
			return nil, fmt.Errorf("number %d is null", i)
		}
		out[i] = float32(*x)
		sum += float64(out[i]) * float64(out[i])
	}
	if !(sum >= minSquare && sum <= maxSquare) { // also if it is no number
		return nil, fmt.Errorf("it is all zero, too small or not finite")
	}
	return out, nil
}

// errLength marks vectors of another length than earlier ones.
var errLength = errors.New("was the model swapped under its name?")

// sameLength refuses vectors of another length than the model's first one: they come from another model and cannot be compared.
func (c *Client) sameLength(model string, vectors [][]float32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, v := range vectors {
		want, seen := c.dimensions[model]
		if seen && want != len(v) {
			return fmt.Errorf("vector %d has %d numbers, earlier ones had %d; %w", i, len(v), want, errLength)
		}
		if !seen && i > 0 && len(vectors[0]) != len(v) {
			return fmt.Errorf("vectors of %d and %d numbers in one answer", len(vectors[0]), len(v))
		}
	}
	c.dimensions[model] = len(vectors[0])
	return nil
}

// forgetLength lets the next call begin anew: a model that was swapped for good would else be refused until a restart. Whoever keeps
// vectors compares lengths, too.
func (c *Client) forgetLength(model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.dimensions, model)
}
