import type { SchemaPart } from './parts.ts'

/** As in SQLite and in the same order, with labels as text, and the node first. */
export const recordColumns = [
  ...(['node', 'id', 'state', 'time'] as const),
  ...(['lane', 'project', 'environment', 'key_id', 'key_name', 'model', 'provider', 'shadow'] as const),
  ...(['status', 'error_code', 'input', 'output', 'cache_read', 'cache_write', 'reasoning', 'usd'] as const),
  ...(['duration_ms', 'first_byte_ms', 'attempts_json', 'record_json', 'repeats', 'last_time'] as const),
] as const

const labels = `lane text, project text, environment text, key_id text, key_name text, model text, provider text,
  shadow smallint`

/**
 * Records of all nodes, partitioned by the day in their ids, so that old ones are removed by dropping a table. No two nodes ever write the
 * same row, and no statement waits for another node's. Times are RFC 3339 and sort as text. `shipped` is each member's watermark, updated
 * in the transaction that ships its records. Captured bodies are in tables beside them, sealed as in SQLite.
 */
export const recordsPart: SchemaPart = {
  name: 'records',
  steps: [
    `
create table spgw.records (
  node text not null, id text collate "C" not null, state text not null, time text collate "C" not null, ${labels},
  status integer, error_code text, input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint,
  usd double precision, duration_ms double precision, first_byte_ms double precision, attempts_json text,
  record_json text not null, repeats bigint, last_time text collate "C", primary key (id)) partition by range (id);
create index records_project on spgw.records (project, id);
create index records_key on spgw.records (key_id, id);
create index records_repeated on spgw.records (id) where repeats is not null;
do $$ begin
  alter table spgw.records alter column record_json set compression lz4;
exception when feature_not_supported then null; end $$;

create table spgw.record_sums (
  span text not null, start text collate "C" not null, node text not null, label text not null, state text not null,
  status integer not null, error_code text not null, ${labels}, requests bigint not null, input bigint not null,
  output bigint not null, cache_read bigint not null, cache_write bigint not null, reasoning bigint not null,
  usd_nano bigint not null, priced bigint not null, latencies bytea,
  primary key (span, start, node, label, state, status, error_code));

create table spgw.shipped (
  member text primary key, node text not null, sequence bigint not null default 0, mark text not null default '',
  keep_ms bigint not null default 0, time timestamptz not null default now());
`,
    // A day is attached, not created as a partition: that would wait for all readers and writers, and they for it.
    `
create function spgw.make_day(day date, first text, past text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare name text := 'records_' || to_char(day, 'YYYYMMDD');
begin
  perform pg_advisory_xact_lock(hashtext('spgw.records'));
  if to_regclass('spgw.' || name) is not null then return; end if;
  execute format('create table spgw.%I (like spgw.records including all)', name);
  execute format('alter table spgw.records attach partition spgw.%I for values from (%L) to (%L)', name, first, past);
end $$;

create function spgw.drop_day(day date) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare longest bigint := (select max(s.keep_ms) from spgw.shipped s join spgw.members m on m.id = s.member);
begin
  -- By this clock, whatever that of the node says.
  if longest is null or (day + 1)::timestamp at time zone 'utc' > now() - longest * interval '1 millisecond'
  then return false; end if;
  execute format('drop table if exists spgw.%I', 'records_' || to_char(day, 'YYYYMMDD'));
  return true;
end $$;
`,
    // Purges of any node, and which nodes have done their part.
    `
create table spgw.purges (
  number bigint generated always as identity primary key, question jsonb not null,
  time timestamptz not null default now());
create table spgw.purged (
  number bigint not null references spgw.purges on delete cascade, member text not null, removed bigint not null,
  primary key (number, member));
`,
    // Sealed bodies cannot be compressed. `bodies_from`: from that id on, a member has shipped the bodies of all its records; null: it
    // ships none.
    `
create table spgw.bodies (
  node text not null, id text collate "C" not null, part text not null, mode text not null, type text,
  bytes bigint not null, truncated smallint not null, masked smallint not null, key_id text not null,
  sealed bytea not null, primary key (id, part)) partition by range (id);
alter table spgw.bodies alter column sealed set storage external;
alter table spgw.shipped add column keep_bodies_ms bigint, add column bodies_from text collate "C";

create or replace function spgw.make_day(day date, first text, past text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare kind text; name text;
begin
  perform pg_advisory_xact_lock(hashtext('spgw.records'));
  foreach kind in array array['bodies', 'records'] loop
    name := kind || '_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass('spgw.' || name) is not null;
    execute format('create table spgw.%I (like spgw.%I including all)', name, kind);
    execute format('alter table spgw.%I attach partition spgw.%I for values from (%L) to (%L)', kind, name, first, past);
  end loop;
end $$;

create or replace function spgw.drop_day(day date) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare longest bigint := (select max(s.keep_ms) from spgw.shipped s join spgw.members m on m.id = s.member);
begin
  -- By this clock, whatever that of the node says.
  if longest is null or (day + 1)::timestamp at time zone 'utc' > now() - longest * interval '1 millisecond'
  then return false; end if;
  execute format('drop table if exists spgw.%I', 'bodies_' || to_char(day, 'YYYYMMDD'));
  execute format('drop table if exists spgw.%I', 'records_' || to_char(day, 'YYYYMMDD'));
  return true;
end $$;

create function spgw.drop_bodies(day date) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare longest bigint := (select max(s.keep_bodies_ms) from spgw.shipped s join spgw.members m on m.id = s.member);
begin
  if longest is null or (day + 1)::timestamp at time zone 'utc' > now() - longest * interval '1 millisecond'
  then return false; end if;
  execute format('drop table if exists spgw.%I', 'bodies_' || to_char(day, 'YYYYMMDD'));
  return true;
end $$;
`,
    // By whole day, with a row for each tag (as JSON writes it) and one for records with any tag (''). `tag_days`: the totals of all
    // records that were counted there, tagged or not. If these are not the totals of all records, a node of an earlier version has written
    // some.
    `
create table spgw.tag_sums (
  start text collate "C" not null, node text not null, label text not null, state text not null,
  status integer not null, error_code text not null, tag text collate "C" not null, ${labels}, requests bigint not null,
  input bigint not null, output bigint not null, cache_read bigint not null, cache_write bigint not null,
  reasoning bigint not null, usd_nano bigint not null, priced bigint not null, latencies bytea);
create unique index tag_sums_key on spgw.tag_sums (start, node, label, state, status, error_code, md5(tag));
create table spgw.tag_days (
  start text collate "C" not null, node text not null, requests bigint not null, input bigint not null,
  output bigint not null, cache_read bigint not null, cache_write bigint not null, reasoning bigint not null,
  usd_nano bigint not null, priced bigint not null, rows integer not null default 0,
  overflow boolean not null default false, primary key (start, node));
`,
    // Until when policies keep a body; null: as long as its node's settings say.
    `
alter table spgw.bodies add column until bigint;
create index bodies_until on spgw.bodies (until) where until is not null;
`,
  ],
}
