import type { SchemaPart } from './parts.ts'

/**
 * Whose what lies at providers is, and the sealed reasoning, of all nodes. `forgotten` tells those that know of an object
 * that it is nobody's any more.
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
    // Which node counts what background work used, and holds budget for it; `usage`: what it came to, once that node's records have it.
    `
create table spgw.counted (
  id text not null, provider_id text not null, credential_id text not null, type text not null, member text not null,
  holder text, usage jsonb, time timestamptz not null default now(), primary key (id, provider_id, credential_id));
create index counted_age on spgw.counted (time) where type in ('response', 'interaction');
create table spgw.held (
  id text not null, provider_id text not null, credential_id text not null, member text not null,
  primary key (id, provider_id, credential_id));
`,
    // What a later call of another node goes on with: the model and what it has read so far; null: told by an older node, or nothing goes on.
    `
alter table spgw.held add column work jsonb;
`,
    // What was seen of a file that comes in several calls, sealed. `call`: which goes on with it now; '': it is not known; null: the next may.
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
