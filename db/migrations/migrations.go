// Package migrations embeds the schema's history: numbered, forward only, never edited once released.
package migrations

import "embed"

// FS holds the migrations, one SQL file each.
//
//go:embed *.sql
var FS embed.FS
