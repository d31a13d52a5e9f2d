-- +goose Up
-- Clashes that a cosigner knows of and no run flagged, to measure recall by. Only ever added to: of a cosigner's rows about the same two
-- contents the latest holds, and one without a label takes the word back.
CREATE TABLE missed (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    manifest_id bigint      NOT NULL REFERENCES manifests (id) ON DELETE CASCADE,
    run_id      bigint      NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    cosigner    text        NOT NULL CHECK (cosigner IN ('owner', 'claude')),
    unit        text        NOT NULL,
    unit_hash   text        NOT NULL,                 -- hex SHA-256 of type and text, as in flags
    item        text        NOT NULL,
    item_hash   bytea       NOT NULL,                 -- SHA-256 of the item's text, as in pairs
    label       text        NOT NULL CHECK (label IN ('contra', 'dup', '')),
    rank        integer     NOT NULL,                 -- of the item among the unit's pairs; 0: it was not brought
    said        text        NOT NULL CHECK (said IN ('contra', 'dup', 'ok', '')),
    note        text        NOT NULL,
    demo        boolean     NOT NULL,                 -- a run of the demo model or of the sample: in no sum
    named_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX missed_pair ON missed (unit_hash, item_hash, cosigner, id DESC);
