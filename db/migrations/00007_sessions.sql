-- +goose Up
-- A session's whole life is measured from here by the database's clock, whatever the clock of the process that serves it shows.
ALTER TABLE sessions ADD COLUMN opened_at timestamptz NOT NULL DEFAULT now();
