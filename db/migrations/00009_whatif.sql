-- +goose Up
-- What a floor under the similarity would have cut off, kept in the same transaction as counted_units, so that the page costs the same
-- however long the history is. Similarities are in whole percent, rounded down (as percentOf in db/whatif.go); vectors of two models are
-- never compared, so everything is per model.

-- Pairs of counted units that a judge was asked about.
CREATE TABLE similarities (
    embed_model text     NOT NULL,                    -- at most 200 characters
    percent     smallint NOT NULL,
    pairs       integer  NOT NULL,
    PRIMARY KEY (embed_model, percent)
);

-- Of each counted unit with a contra or a dup: the nearest item that the flag is held against.
CREATE TABLE flag_nearest (
    key         bytea       PRIMARY KEY REFERENCES counted_units (key) ON DELETE CASCADE,
    flag        bytea       NOT NULL,                 -- key in flag_history
    embed_model text        NOT NULL,
    label       text        NOT NULL,
    percent     smallint    NOT NULL,
    stamped     timestamptz NOT NULL                  -- the manifest's own time
);
CREATE INDEX flag_nearest_newest ON flag_nearest (embed_model, stamped DESC, key) INCLUDE (percent);

INSERT INTO similarities (embed_model, percent, pairs)
SELECT left(r.embed_model, 200), CASE WHEN p.similarity BETWEEN -1.5 AND 1.5 THEN floor(p.similarity * 100 + 1e-9) ELSE -100 END, count(*)
FROM counted_units c JOIN runs r ON r.id = c.run_id JOIN pairs p ON p.run_id = c.run_id AND p.ord = c.ord
WHERE NOT c.demo AND r.embed_model <> '' AND p.judge <> '' GROUP BY 1, 2;

INSERT INTO flag_nearest (key, flag, embed_model, label, percent, stamped)
SELECT c.key, sha256(c.session || '\x00' || convert_to(c.unit, 'UTF8') || '\x00' || convert_to('semantic', 'UTF8') || '\x00' || convert_to(p.label, 'UTF8')),
    left(r.embed_model, 200), p.label, max(CASE WHEN p.similarity BETWEEN -1.5 AND 1.5 THEN floor(p.similarity * 100 + 1e-9) ELSE -100 END), c.stamped
FROM counted_units c JOIN runs r ON r.id = c.run_id
    JOIN pairs p ON p.run_id = c.run_id AND p.ord = c.ord AND NOT p.resolved AND p.label = CASE WHEN c.contra THEN 'contra' ELSE 'dup' END
WHERE NOT c.demo AND (c.contra OR c.dup) AND r.embed_model <> '' GROUP BY c.key, c.session, c.unit, r.embed_model, p.label, c.stamped;
