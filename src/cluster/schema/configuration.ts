/** The version of the tables below. A gateway does not touch those of a newer version. */
export const schemaLevel = 1

/** Notified by `append`, with the new number. */
export const channel = 'spgw'

/**
 * What PostgreSQL stores for a cluster. `rows` does not know the gateway's own tables: a row is a name, a key and a JSON object, so that
 * nodes may run different versions, and what an older one does not know survives its changes. A deletion is a row with null.
 */
export const createSchema = `
create schema spgw;
create table spgw.head (cluster text primary key, sequence bigint not null, level integer not null);
create table spgw.rows (
  name text not null, key text not null, row jsonb, sequence bigint not null, primary key (name, key));
create index rows_sequence on spgw.rows (sequence);
create table spgw.appends (
  sequence bigint primary key, token text not null unique, member text not null, time timestamptz not null default now());
create table spgw.members (
  id text primary key, name text not null unique, incarnation text, version text, applied bigint not null default 0,
  joined timestamptz not null default now(), beat timestamptz);
create table spgw.invites (
  id text primary key, expires timestamptz not null, member text, name text, public_key text, proof text, answer text);

create function spgw.append(of text, expected bigint, by text, life text, mark text, changes jsonb)
returns bigint language plpgsql as $$
declare reached bigint; done bigint;
begin
  -- The one lock: the second sees what the first has committed.
  select h.sequence into reached from spgw.head h where h.cluster = of for update;
  if not found then return -3; end if;
  select a.sequence into done from spgw.appends a where a.token = mark;
  if found then return done; end if;
  if not exists (select 1 from spgw.members m where m.id = by and m.incarnation = life) then return -2; end if;
  if reached <> expected then return -1; end if;
  reached := reached + 1;
  if exists (select 1 from jsonb_to_recordset(changes) as c(name text, key text)
    join spgw.rows r on r.name = c.name and r.key = c.key where c.name = 'audit')
  then raise exception 'the audit trail is append-only'; end if;
  insert into spgw.rows as r (name, key, row, sequence)
    select c.name, c.key, case when c.op = 'drop' then null else c.patch end, reached
    from jsonb_to_recordset(changes) as c(name text, key text, op text, patch jsonb) where c.op <> 'set'
    on conflict (name, key) do update set sequence = reached,
      row = case when excluded.row is null then null else coalesce(r.row, '{}') || excluded.row end;
  update spgw.rows r set row = r.row || c.patch, sequence = reached
    from jsonb_to_recordset(changes) as c(name text, key text, op text, patch jsonb)
    where c.op = 'set' and r.name = c.name and r.key = c.key and r.row is not null;
  insert into spgw.appends (sequence, token, member) values (reached, mark, by);
  update spgw.head set sequence = reached where cluster = of;
  perform pg_notify('${channel}', reached::text);
  return reached;
end $$;
`

/** Fails where this node may not change the configuration, or be given parts of budgets; and changes nothing. */
export const tryChanging = `
with head as (update spgw.head set sequence = sequence where false),
  timeline as (update spgw.timeline set since = since where false),
  budgets as (insert into spgw.budgets select * from spgw.budgets where false
    on conflict (counter, period) do update set most = excluded.most),
  allowances as (insert into spgw.allowances select * from spgw.allowances where false
    on conflict (counter, period, member) do update set given = excluded.given),
  appends as (insert into spgw.appends select * from spgw.appends where false)
insert into spgw.rows as r select * from spgw.rows where false
  on conflict (name, key) do update set row = excluded.row, sequence = excluded.sequence`
