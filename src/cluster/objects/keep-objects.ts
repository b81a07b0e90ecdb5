import type pg from 'pg'

const rowsAtOnce = 5000
/** A node that was away longer reads everything again. */
const forgottenDays = 30
/** The lifetime of the URL at which an upload continues. */
const uploadHours = 24

/** Removes what has expired: stored answers as old as dropped records, and reasoning by its own expiry. */
export async function removeOldObjects(
  client: pg.Client,
  { before, now }: { before: number; now: number },
): Promise<void> {
  const steps: [text: string, value: unknown][] = [
    [
      `delete from spgw.objects where (type, id, provider_id, credential_id) in (
         select type, id, provider_id, credential_id from spgw.objects
         where type in ('response', 'item', 'interaction', 'chat_completion', 'session_handle') and created_at < $1
         limit ${rowsAtOnce})`,
      Number.isFinite(before) ? new Date(before).toISOString() : '',
    ],
    [
      `delete from spgw.reasoning where name in (
         select name from spgw.reasoning where expires_at < $1 limit ${rowsAtOnce})`,
      Math.floor(now),
    ],
    [
      `delete from spgw.counted where (id, provider_id, credential_id) in (
         select id, provider_id, credential_id from spgw.counted
         where type in ('response', 'interaction') and time < $1::timestamptz limit ${rowsAtOnce})`,
      Number.isFinite(before) ? new Date(before).toISOString() : '-infinity',
    ],
  ]
  for (const [text, value] of steps) {
    for (let removed = rowsAtOnce; removed === rowsAtOnce; ) removed = (await client.query(text, [value])).rowCount ?? 0
  }
  await client.query('delete from spgw.held where member not in (select id from spgw.members)')
  await client.query(`delete from spgw.uploads where time < now() - interval '${uploadHours} hours'`)
  await client.query(`delete from spgw.forgotten where time < now() - interval '${forgottenDays} days'`)
}
