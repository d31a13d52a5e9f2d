-- +goose Up
-- What a page or a list shows of a whole run, kept beside it when the run ends, so that neither reads the whole. NULL: an older run, which is
-- counted when asked.
ALTER TABLE runs
    ADD COLUMN pairs_judged integer, -- pairs with a label
    ADD COLUMN pairs_cached integer, -- of these: the label came from an earlier run
    ADD COLUMN head         json;    -- the block with one flag per repo: all that the inbox needs

-- The queues' counts come from the index alone.
DROP INDEX manifests_queue;
CREATE INDEX manifests_queue ON manifests (open_owner, open_claude, differ) WHERE superseded_by IS NULL AND open_owner IS NOT NULL;
