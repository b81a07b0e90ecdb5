import { type Kysely, sql } from 'kysely'

/** What the graders of an eval ask goes with the eval, as what the lines of a file ask goes with the file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create trigger forget_eval_input after delete on objects when old.type = 'eval' begin
    delete from batch_inputs where file_id = old.id and provider_id = old.provider_id
    and credential_id = old.credential_id; end`.execute(db)
}
