import { type Kysely, sql } from 'kysely'

/**
 * Whose the objects are that live at providers. A name may stand there more than once: the same id at two credentials is
 * two objects. `credential_id` is '' where the provider takes none, since a key's columns are never null.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table objects (type text not null, id text not null, provider_id text not null, credential_id text not null,
    project_id text not null, environment_id text not null, key_id text, request_id text, created_at text not null,
    primary key (type, id, provider_id, credential_id)) strict, without rowid`.execute(db)
  await sql`create index objects_by_scope on objects (project_id, environment_id, type, created_at)`.execute(db)
  await sql`create index objects_by_age on objects (created_at)
    where type in ('response', 'item', 'interaction', 'chat_completion')`.execute(db)
}
