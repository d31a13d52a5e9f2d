-- +goose Up
-- A neighbour may be found by the words it shares with the unit instead of by its vector; the page says so.
ALTER TABLE pairs ADD COLUMN words boolean NOT NULL DEFAULT false;
