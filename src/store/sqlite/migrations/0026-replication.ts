import { type Kysely, sql } from 'kysely'

const now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

/**
 * What a node of a cluster knows of the cluster: nothing stands in these tables otherwise. Rows that come from the cluster
 * bring the names that projects had with them, so the triggers that keep these are silent meanwhile; and those names get a
 * number, by which a row is the same row on every node.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table replica (
    cluster text primary key not null, member text not null, sequence integer not null, mark text not null,
    schema text not null) strict, without rowid`)
  await run('create table replica_applying (applying integer not null) strict')
  await run(`create table replica_pending (
    number integer primary key, token text not null, changes_json text not null, audit_json text,
    project_id text, time text not null) strict`)
  for (const name of ['named', 'renamed', 'unnamed']) await run(`drop trigger projects_${name}`)
  await run('alter table project_names rename to project_names_before')
  await run('drop index project_names_name')
  await run(`create table project_names (
    number integer primary key, name text not null, project_id text, since text not null, until text) strict`)
  await run('create index project_names_name on project_names (name)')
  await run(`insert into project_names (name, project_id, since, until)
    select name, project_id, since, until from project_names_before order by rowid`)
  await run('drop table project_names_before')
  const give = `insert into project_names (name, project_id, since)
    values (new.name, new.id, coalesce((select max(until) from project_names where name = new.name), ''))`
  const end = `update project_names set until = ${now} where project_id = old.id and until is null`
  const own = 'not exists (select 1 from replica_applying)'
  await run(`create trigger projects_named after insert on projects when ${own} begin ${give}; end`)
  await run(`create trigger projects_renamed after update of name on projects when old.name <> new.name and ${own}
    begin ${end}; ${give}; end`)
  await run(`create trigger projects_unnamed after delete on projects when ${own} begin ${end}; end`)
}
