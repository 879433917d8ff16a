-- The oldest release that works on the schema after this migration; null: the release before it does, too. A node of an older release does
-- not start on the database. Release 0.1.0 does not know the column: it starts, and works on the schemas of 0.2.0.
alter table schema_migrations add column oldest_release text;
