-- +goose Up
-- splitter: version of the rules by which files became items; an older one means that every file is read again. revision: rises whenever an item
-- changes, so that what was worked out for one state is never written down for another. items: kept here because every run asks for it.
-- embedded: the model of which every item has a vector. reindexing: the model that is getting there, while an older one serves.
ALTER TABLE corpora
    ADD COLUMN splitter   integer NOT NULL DEFAULT 0,
    ADD COLUMN revision   bigint  NOT NULL DEFAULT 0,
    ADD COLUMN items      integer NOT NULL DEFAULT 0,
    ADD COLUMN embedded   integer REFERENCES embed_models (id) ON DELETE SET NULL,
    ADD COLUMN reindexing integer REFERENCES embed_models (id) ON DELETE SET NULL;
UPDATE corpora c SET items = (SELECT count(*) FROM items i WHERE i.corpus_id = c.id);
CREATE INDEX items_text ON items (corpus_id, text_hash);

-- Vectors of a model that nobody has used for long are let go.
ALTER TABLE embed_models ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();

-- Work that one process does for all: whoever holds the row until then.
CREATE TABLE leases (
    name       text        PRIMARY KEY,
    holder     text        NOT NULL,
    held_until timestamptz NOT NULL
);
