package views

import (
	"fmt"
	"strings"

	"storozh/core"
)

// Notice is something a reader must know before the units: what happened, what to do, and the list it is about.
type Notice struct {
	Kind     string // "info", "warn" or "error": icon, word and colour
	Title    string
	Body     string
	Commands []string // to copy
	Items    []string // paths, ids or warnings; at most listLimit
	More     int      // items left out
}

// listLimit bounds every list on a page; the JSON has all of them.
const listLimit = 100

// word names the kind, so that colour is never alone.
func (n Notice) word() string {
	switch n.Kind {
	case "warn":
		return "Attention"
	case "error":
		return "Failed"
	}
	return "Note"
}

func listed(n Notice, items []string) Notice {
	if len(items) > listLimit {
		n.More, items = len(items)-listLimit, items[:listLimit]
	}
	n.Items = items
	return n
}

// blockNotices says what the flags of a block do not cover, loudest first.
func blockNotices(b core.Block, addCommands []string) []Notice {
	var out []Notice
	if n, ok := contraNotice(b.ContraCheck); ok {
		out = append(out, n)
	}
	if k := len(b.NotInDiff); k > 0 {
		out = append(out, listed(Notice{
			Kind: "warn", Title: plural(k, "file") + " not in the diff, not checked", Commands: capList(addCommands),
			Body: "git does not put untracked files into the diff that arrived here. These commands bring them in; the next manifest of the session then holds them.",
		}, b.NotInDiff))
	}
	if k := len(b.Warnings); k > 0 {
		out = append(out, listed(Notice{Kind: "warn", Title: plural(k, "warning"), Body: "Something could not be read, was read with a reservation, or was judged by a model in doubt."}, b.Warnings))
	}
	if k := len(b.Unclassified); k > 0 {
		out = append(out, listed(Notice{
			Kind: "info", Title: plural(k, "file") + " unclassified",
			Body: "No path rule and no declared type names what these are, so they were neither routed nor compared.",
		}, b.Unclassified))
	}
	if k := len(b.Resolved); k > 0 {
		items := make([]string, 0, k)
		for _, r := range b.Resolved {
			items = append(items, r.Unit+" clashed with "+r.Item)
		}
		out = append(out, listed(Notice{Kind: "info", Title: resolvedTitle(k), Body: "The same changeset removes or rewrites the other side."}, items))
	}
	return out
}

func resolvedTitle(n int) string {
	if n == 1 {
		return "1 clash resolved here"
	}
	return fmt.Sprintf("%d clashes resolved here", n)
}

func capList(in []string) []string {
	if len(in) > listLimit {
		return in[:listLimit]
	}
	return in
}

// contraNotice explains in plain words why pairs were not judged, and what to do about it.
func contraNotice(check string) (Notice, bool) {
	switch check {
	case core.ContraRan, "":
		return Notice{}, false
	case core.SkippedNoKnowledge:
		return Notice{
			Kind: "info", Title: "Nothing was compared with the corpus",
			Body: "No unit of this changeset belongs to the knowledge lane. Routing was checked all the same; there is nothing to do.",
		}, true
	case core.SkippedUnreachable:
		return Notice{
			Kind: "warn", Title: "localllm could not be reached, nothing was judged",
			Body: "Routing was checked, contradictions and duplicates were not. Start the local model's server with an embedding and a chat model, look at the status page, then press Judge again.",
		}, true
	case core.SkippedNoEmbedding:
		return Notice{
			Kind: "warn", Title: "No usable embedding model, nothing was judged",
			Body: "The local model's server answers, but offers no embedding model that works. Load one there or name it in STOROZH_EMBED_MODEL, then press Judge again.",
		}, true
	case core.SkippedNoCorpus:
		return Notice{
			Kind: "warn", Title: "The shield corpus could not be read, nothing was judged",
			Body: "Point STOROZH_SHIELD_DIR at a checkout of the shield repo that has at least one commit; the status page says what is wrong. Then press Judge again.",
		}, true
	}
	if detail, ok := strings.CutPrefix(check, "incomplete ("); ok {
		return Notice{
			Kind: "warn", Title: "The check is incomplete: " + strings.TrimSuffix(detail, ")"),
			Body: "Unjudged pairs carry no label, and none was assumed. Judge again asks the model only for what is missing.",
		}, true
	}
	return Notice{Kind: "warn", Title: "contra-check: " + check}, true
}

// systemNotices warns about parts that would make the next run thinner than a reader expects.
func systemNotices(s core.System) []Notice {
	var out []Notice
	if s.LLM.URL != "" && !s.LLM.Reachable && !s.Demo {
		out = append(out, Notice{Kind: "warn", Title: "localllm does not answer", Body: "New manifests get their routing checked and nothing else until it does. The status page says what was tried."})
	}
	if s.Corpus.Stale {
		out = append(out, Notice{Kind: "warn", Title: "The shield corpus is stale", Body: s.Corpus.Reason})
	}
	return out
}
