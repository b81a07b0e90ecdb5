import type pg from 'pg'
import { alertReportsPart } from './schema/alert-reports.ts'
import { ensurePart } from './schema/parts.ts'

export interface AlertQuestions {
  /** Of these crossings those that another member sends: the first to ask sends it. */
  'claim-alert': { input: { member: string; alert: string; crossings: string[] }; output: string[] }
}

type AlertAnswerers = {
  [Name in keyof AlertQuestions]: (
    client: pg.Client,
    input: AlertQuestions[Name]['input'],
  ) => Promise<AlertQuestions[Name]['output']>
}

/** Longer than a month, after which budgets have crossings of other names. */
const keepDays = 62

export const alertAnswerers: AlertAnswerers = {
  async 'claim-alert'(client, { member, alert, crossings }) {
    if (!(await ensurePart(client, alertReportsPart))) return []
    await client.query(`delete from spgw.alert_reports where time < now() - interval '${keepDays} days'`)
    // A row that is there stays as it is; it is only returned where it is written.
    const { rows } = await client.query<{ crossing: string; member: string }>(
      `insert into spgw.alert_reports as r (alert, crossing, member) select $1, unnest($2::text[]), $3
       on conflict (alert, crossing) do update set member = r.member returning crossing, member`,
      [alert, crossings, member],
    )
    return rows.flatMap((row) => (row.member === member ? [] : row.crossing))
  },
}
