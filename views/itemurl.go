package views

import (
	"net/url"
	"strings"
)

// ItemURL is the path of an item's page, `/items/shield/lessons/a.md%23part`: each part of the id escaped, its slashes kept. An id whose
// parts a browser would resolve or drop (`.`, `..`, nothing) goes into the query instead.
func ItemURL(id string) string {
	parts := strings.Split(id, "/")
	for i, p := range parts {
		if p == "" || p == "." || p == ".." {
			return "/items/?id=" + url.QueryEscape(id)
		}
		parts[i] = url.PathEscape(p)
	}
	return "/items/" + strings.Join(parts, "/")
}
