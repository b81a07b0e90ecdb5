import type pg from 'pg'
import { alertReportsPart } from './schema/alert-reports.ts'
import { ensurePart } from './schema/parts.ts'

export interface AlertQuestions {
  /** The crossings that another member sends already: the first member to ask sends one. */
  'claim-alert': { input: { member: string; alert: string; crossings: string[] }; output: string[] }
}

type AlertAnswerers = {
  [Name in keyof AlertQuestions]: (
    client: pg.Client,
    input: AlertQuestions[Name]['input'],
  ) => Promise<AlertQuestions[Name]['output']>
}

/** Longer than a month, after which budgets' crossings have other names. */
const keepDays = 62

export const alertAnswerers: AlertAnswerers = {
  async 'claim-alert'(client, { member, alert, crossings }) {
    if (!(await ensurePart(client, alertReportsPart))) return []
    await client.query(`delete from spgw.alert_reports where time < now() - interval '${keepDays} days'`)
    // An existing row stays as it is; only a row written by this member is returned.
    const { rows } = await client.query<{ crossing: string; member: string }>(
      `insert into spgw.alert_reports as r (alert, crossing, member) select $1, unnest($2::text[]), $3
       on conflict (alert, crossing) do update set member = r.member returning crossing, member`,
      [alert, crossings, member],
    )
    return rows.flatMap((row) => (row.member === member ? [] : row.crossing))
  },
}
