package views

import (
	"net/http"

	"storozh/static"
)

// AssetPrefix is the path under which [Assets] must answer, for the pages link there.
const AssetPrefix = static.Prefix

// Assets serves the style sheet, script and icon that the pages link to.
func Assets() http.Handler { return static.Handler() }
