import type { SchemaPart } from './parts.ts'

/**
 * The owners of objects at providers, and sealed reasoning, of all nodes. `forgotten` tells nodes that know an object that it has no owner
 * any more.
 */
export const objectsPart: SchemaPart = {
  name: 'objects',
  steps: [
    `
create table spgw.objects (
  type text not null, id text not null, provider_id text not null, credential_id text not null, project_id text not null,
  environment_id text not null, key_id text, request_id text, created_at text collate "C" not null, batch_id text,
  input_json text, primary key (type, id, provider_id, credential_id));
create index objects_scope on spgw.objects (project_id, environment_id, type, created_at);
create index objects_age on spgw.objects (created_at)
  where type in ('response', 'item', 'interaction', 'chat_completion', 'session_handle');
create table spgw.reasoning (name text primary key, expires_at bigint not null, sealed text not null);
create index reasoning_age on spgw.reasoning (expires_at);
create table spgw.forgotten (
  number bigserial primary key, time timestamptz not null default now(), type text not null, id text not null,
  provider_id text not null, credential_id text not null, project_id text not null, environment_id text not null,
  until text not null);
create index forgotten_time on spgw.forgotten (time);
`,
    // Which node counts the usage of background work, and which holds budget for it. `usage`: the result, once the counting node's records
    // have it.
    `
create table spgw.counted (
  id text not null, provider_id text not null, credential_id text not null, type text not null, member text not null,
  holder text, usage jsonb, time timestamptz not null default now(), primary key (id, provider_id, credential_id));
create index counted_age on spgw.counted (time) where type in ('response', 'interaction');
create table spgw.held (
  id text not null, provider_id text not null, credential_id text not null, member text not null,
  primary key (id, provider_id, credential_id));
`,
    // What a later call on another node continues: the model and its input so far; null: reported by an older node, or nothing continues
    // it.
    `
alter table spgw.held add column work jsonb;
`,
    // What was read of a file that arrives in several calls, sealed. `call`: the call that continues it now; '': unknown; null: the next
    // one may.
    `
create table spgw.uploads (
  name text primary key, project_id text not null, call text, at bigint not null, sealed bytea not null default '',
  bytes bigint generated always as (octet_length(sealed)) stored, time timestamptz not null default now());
alter table spgw.uploads alter column sealed set storage external;
create index uploads_project on spgw.uploads (project_id, time);
create index uploads_age on spgw.uploads (time);
`,
  ],
}
