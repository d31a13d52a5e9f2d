package views

import (
	entities "html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMarkdownForReaders(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"# Часы\n\nОдин **раз** и `UTC`.": "<h5>Часы</h5><p>Один <strong>раз</strong> и <code>UTC</code>.</p>",
		"### sub":                                  "<h5 class=\"sub\">sub</h5>",
		"- one\n- two\n":                           "<ul><li>one\n</li><li>two\n</li></ul>",
		"---\n\n* * *\n\n12345678. x\n":            "<hr><hr><ol start=\"12345678\"><li>x\n</li></ol>",
		"3. three":                                 `<ol start="3"><li>three` + "\n</li></ol>",
		"> quoted":                                 "<blockquote><p>quoted</p></blockquote>",
		"a\nb  \nc":                                "<p>a\nb<br>c</p>",
		"```sh\nrm <x>\n```":                       `<pre><code><span class="muted">sh</span>` + "\nrm &lt;x&gt;\n</code></pre>",
		"[docs](https://example.org/a?b=1&c)":      `<p><a href="https://example.org/a?b=1&amp;c" rel="noreferrer nofollow noopener">docs</a> <span class="muted">(https://example.org/a?b=1&amp;c)</span></p>`,
		"<https://example.org>":                    `<p><a href="https://example.org" rel="noreferrer nofollow noopener">https://example.org</a></p>`,
		"[local](../план.md)":                      `<p>local <span class="muted">(../план.md)</span></p>`,
		"![cat](https://example.org/c.png)":        `<p><span class="muted">image: </span>cat <span class="muted">(https://example.org/c.png)</span></p>`,
		"a &amp;lt; b \\&lt; c":                    "<p>a &amp;lt; b &amp;lt; c</p>",
		"<b onclick=x>hi</b> <!-- note -->":        "<p>&lt;b onclick=x&gt;hi&lt;/b&gt; &lt;!-- note --&gt;</p>",
		"<script>\nalert(1)\n</script>":            "<pre><code>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</code></pre>",
		"admin\u202e and &#x2066;":                 `<p>admin<span class="cp">U+202E</span> and <span class="cp">U+2066</span></p>`,
		"---\ncategory: x\n---\n# Title":           "<pre class=\"fm\">---\ncategory: x\n---</pre><h5>Title</h5>",
		"[fix](javascript&#58;alert(1))":           `<p>fix <span class="muted">(javascript:alert(1))</span></p>`,
		"[x][y]\n\n[y]: https://e.org \"be good\"": `<p><a href="https://e.org" rel="noreferrer nofollow noopener">x</a> <span class="muted">(https://e.org “be good”)</span></p><pre><code>[y]: https://e.org &#34;be good&#34;</code></pre>`,
	} {
		got, ok := markdownHTML(in, 5)
		if !ok || got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	}
}

// V1 and its kin: no way of writing a dangerous address makes a link.
func TestMarkdownLinksNowhereDangerous(t *testing.T) {
	t.Parallel()
	for _, to := range []string{
		"javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript&#58;alert(1)", "javascript&colon;alert(1)", "java&Tab;script:alert(1)", "java\tscript:alert(1)",
		"&#1;javascript:alert(1)", "javascript&amp;colon;alert(1)", "data:text/html;base64,PHNjcmlwdD4=", "vbscript:x", `java\script:alert(1)`, "//evil.example/x", "/logout",
		"file:///etc/passwd", "https://you@evil.example", "http:javascript", "https://ex\u202eample.org", "https://аррӏе.com", "mailto:a@b.c", "",
	} {
		for _, in := range []string{"[fix](" + to + ")", "[fix](<" + to + ">)", "[fix]\n\n[fix]: " + to, "<" + to + ">", "![i](" + to + ")"} {
			if got, _ := markdownHTML(in, 5); strings.Contains(got, "href") || strings.Contains(got, "src=") {
				t.Errorf("%q links: %s", in, got)
			}
		}
	}
}

// Nesting and quadratic forms must cost neither time nor bytes.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{">", "- ", "*a ", "[", "![a](", "`", "**", "<a ", "&#x2066;", "[a](b \"", "_a*", "> - ", "1. ", "1.\t> ", "\\", "<", "](", "a\n", "|-", "- - "} {
		in := strings.Repeat(unit, markdownLimit/len(unit))
		got, ok := markdownHTML(in, 5)
		if ok && len(got) > (Excerpt{Text: in, Markdown: 5}).cost() {
			t.Errorf("%q grew to %d bytes", unit, len(got))
		}
	}
	if _, ok := markdownHTML(strings.Repeat("x", markdownLimit+1), 5); ok {
		t.Error("a long text was rendered")
	}
}

var (
	anyTag      = regexp.MustCompile(`<[^>]*>?`)
	allowedTags = []string{"<p>", "</p>", "<h5>", "</h5>", `<h5 class="sub">`, "<ul>", "</ul>", "</ol>", "<li>", "</li>", "<blockquote>", "</blockquote>", "<pre>", "</pre>",
		"<code>", "</code>", "<em>", "</em>", "<strong>", "</strong>", "<hr>", "<br>", "</a>", "</span>", `<span class="cp">`, `<span class="muted">`, `<pre class="fm">`}
	allowedOl = regexp.MustCompile(`^<ol start="\d+">$`)
	allowedA  = regexp.MustCompile(`^<a href="(https?://[!-~]+)" rel="noreferrer nofollow noopener">$`)
)

func FuzzMarkdownHoldsOnlyAllowedTags(f *testing.F) {
	for _, s := range []string{"[fix](javascript&#58;alert(1))", "# a\n- b\n  > c\n\n```x\n<script>\n```", "<img src=x onerror=1>", "![a](b)", "[a](https://b.c \"t\")", "&lt;script&gt;", "1. x\n\n---\n<a@b.c>\u202e\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := markdownHTML(s, 5)
		if !ok {
			return
		}
		for _, tag := range anyTag.FindAllString(got, -1) {
			if slices.Contains(allowedTags, tag) || allowedOl.MatchString(tag) {
				continue
			}
			a := allowedA.FindStringSubmatch(tag)
			if a == nil || strings.ContainsAny(entities.UnescapeString(a[1]), "\"<>\t\n") {
				t.Fatalf("%q gives the tag %q in %s", s, tag, got)
			}
		}
		if Hidden(got) {
			t.Fatalf("%q leaves a hidden character in %q", s, got)
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	s := strings.Repeat("- **Правило**: keep `x` as it is, see [docs](https://example.org)\n", 40)
	for b.Loop() {
		markdownHTML(s, 5)
	}
}
