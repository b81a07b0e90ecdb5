import { type Kysely, sql } from 'kysely'

/**
 * Lines of the audit say more from now on, and are hashed in a second form that covers it; those that stand there keep
 * their form and their hash. Nothing may be put between them either, nor in their place: `insert or replace` deletes
 * without asking the trigger that refuses deletion.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run('alter table audit add column form integer not null default 1')
  await run('alter table audit add column actor_id text')
  await run('alter table audit add column address text')
  await run('alter table audit add column project_id text')
  await run('create index audit_project on audit (project_id, sequence) where project_id is not null')
  await run(`create trigger audit_is_only_continued before insert on audit
    when exists (select 1 from audit where sequence >= new.sequence or id = new.id or hash = new.hash)
      or new.previous_hash is not coalesce((select hash from audit order by sequence desc limit 1), '')
    begin select raise(abort, 'the audit trail is append-only'); end`)
  await run(`create table api_tokens (
    id text primary key not null, name text not null, token_sha256 text not null unique, last_four text not null,
    role text not null, project_id text references projects (id) on delete cascade, created_by text not null,
    created_at text not null, expires_at text, last_used_at text, revoked_at text) strict`)
  // A revoked token keeps its name for the audit, and frees it for the next.
  await run('create unique index api_tokens_name on api_tokens (name) where revoked_at is null')
}
