package localllm

import "context"

// NamedEmbedder is a [Model] that can be asked for the vectors of another model than the configured one. Whether the server really asks that
// model shows only in the vectors: some take any name for the one that is loaded.
type NamedEmbedder interface {
	// EmbedWith is EmbedBatch by the model of that name.
	EmbedWith(ctx context.Context, model string, texts []string) ([][]float32, error)
}

var _ NamedEmbedder = (*Client)(nil)

// EmbedWith is one vector per text, in the texts' order, by the model of that name; all of them or an error.
func (c *Client) EmbedWith(ctx context.Context, model string, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for start := 0; start < len(texts); {
		end := batchEnd(texts, start)
		vectors, err := c.embedSome(ctx, model, texts[start:end])
		if err != nil {
			return nil, err
		}
		out, start = append(out, vectors...), end
	}
	return out, nil
}
