import { type Kysely, sql } from 'kysely'

const now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

/**
 * Which project had which name, and when: records carry names. The first who has a name has it from the beginning, those after
 * him from when it was given up.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table project_names (name text not null, project_id text, since text not null, until text) strict`)
  await run('create index project_names_name on project_names (name)')
  await run(`insert into project_names (name, project_id, since) select name, id, created_at from projects`)
  // What has records and is no project's name now was somebody's before, whose is not known any more.
  await run(`insert into project_names (name, project_id, since, until)
    select distinct project, null, '', ${now} from record_labels
    where project is not null and project not in (select name from projects)`)
  const give = `insert into project_names (name, project_id, since)
    values (new.name, new.id, coalesce((select max(until) from project_names where name = new.name), ''))`
  const end = `update project_names set until = ${now} where project_id = old.id and until is null`
  await run(`create trigger projects_named after insert on projects begin ${give}; end`)
  await run(`create trigger projects_renamed after update of name on projects when old.name <> new.name
    begin ${end}; ${give}; end`)
  await run(`create trigger projects_unnamed after delete on projects begin ${end}; end`)
}
