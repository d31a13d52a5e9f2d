-- +goose Up
-- resolved: the item goes with this manifest, so the clash is shown and not flagged. unstable: asked with the order swapped, the judge said
-- something else. hint: what a reviewer should look at, never a label.
ALTER TABLE pairs
    ADD COLUMN resolved boolean NOT NULL DEFAULT false,
    ADD COLUMN unstable boolean NOT NULL DEFAULT false,
    ADD COLUMN hint     text    NOT NULL DEFAULT '';
ALTER TABLE verdicts ADD COLUMN unstable boolean NOT NULL DEFAULT false;
