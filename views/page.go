package views

import (
	"fmt"
	"time"

	"storozh/core"
)

// Page is what every page needs to know around its own model.
type Page struct {
	Title   string        // shown in the tab, before "Storozh"
	Signed  core.Cosigner // empty: signed out
	CSRF    string        // value of the hidden field `_csrf` of every form
	Demo    bool          // the demo model answers in this process
	Version string        // of the program; may be empty
	Here    string        // the menu entry of this page: "inbox", "deliveries", "status" or empty
	Turn    int           // manifests that wait for the reader, shown in the tab; 0: none, or not counted on this page
	Now     time.Time     // when the page is printed; its location is the one times are shown in
}

// tab is the text of the browser's tab.
func (p Page) tab() string {
	if p.Turn > 0 {
		return fmt.Sprintf("(%d) Storozh", p.Turn)
	}
	if p.Title == "" {
		return "Storozh"
	}
	return Plain(short(p.Title, 120)) + " · Storozh"
}

// current is the value of aria-current for a menu entry.
func (p Page) current(entry string) string {
	if p.Here == entry {
		return "page"
	}
	return "false"
}
