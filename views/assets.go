package views

import (
	"net/http"

	"storozh/static"
)

// AssetPrefix is the path under which [Assets] must answer, for the pages link there.
const AssetPrefix = static.Prefix

// AcceptsGzip tells whether an answer to a request with these headers may be gzipped.
func AcceptsGzip(h http.Header) bool { return static.AcceptsGzip(h) }

// Assets serves the style sheet, script and icon that the pages link to.
func Assets() http.Handler { return static.Handler() }
