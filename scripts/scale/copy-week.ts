import type { Connection } from '../../src/store/sqlite/connection.ts'

const dayMs = 86_400_000
const weekMs = 7 * dayMs
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const prefixLength = 'req_'.length
const timeLength = 10

export interface Week {
  /** Milliseconds since the epoch, where a week of the sums begins. */
  from: number
  /** How many weeks later its copy is. */
  later: number
}

/**
 * A week of records once more, `later` weeks on, with all that is kept of them: hours, days and weeks of the sums are those of the
 * first, since whole weeks lie between them. Nothing else may be in either week.
 */
export async function copyWeek(connection: Connection, { from, later }: Week): Promise<void> {
  const { sqlite } = connection
  const shift = `+${later * 7} days`
  const laterMs = later * weekMs
  sqlite.function('later_id', { deterministic: true }, (id: unknown, by: unknown) => shiftId(String(id), Number(by)))
  const columns = recordColumns.join(', ')
  const records = sqlite.prepare(
    `insert into records (id, time, record_json, ${columns})
     select later_id, later_time, replace(replace(record_json, id, later_id), time, later_time), ${columns} from (
       select *, later_id(id, ?) as later_id, strftime('%Y-%m-%dT%H:%M:%fZ', time, ?) as later_time
       from records where id >= ? and id < ? order by id)`,
  )
  const periods = sqlite.prepare(
    `insert or ignore into label_periods (label, period)
     select distinct label, substr(id, 1, 11) from records where id >= ? and id < ?`,
  )
  for (let day = from; day < from + weekMs; day += dayMs) {
    const [begin, end] = [firstId(day), firstId(day + dayMs)]
    await connection.writeHot(() => {
      records.run(laterMs, shift, begin, end)
      periods.run(shiftId(begin, laterMs), shiftId(end, laterMs))
    })
    await connection.checkpoint(0)
  }
  await connection.writeHot(() => {
    for (const [table, values] of Object.entries(sumTables)) {
      const names = ['label', 'state', 'status', 'error_code', ...values].join(', ')
      const copy = sqlite.prepare(
        `insert into ${table} (span, start, ${names})
         select span, strftime(case span when 'hour' then '%Y-%m-%dT%H' else '%Y-%m-%d' end,
           case span when 'hour' then start || ':00' else start end, ?), ${names}
         from ${table} where start >= ? and start < ?`,
      )
      copy.run(shift, dayOf(from), dayOf(from + weekMs))
    }
  })
}

const recordColumns = [
  ...['boot', 'state', 'label', 'status', 'error_code', 'input', 'output', 'cache_read', 'cache_write'],
  ...['reasoning', 'usd', 'duration_ms', 'first_byte_ms', 'attempts_json'],
]
const sums = ['requests', 'input', 'output', 'cache_read', 'cache_write', 'reasoning', 'usd_nano', 'priced']
const sumTables = {
  record_sums: sums,
  record_latencies: ['counts'],
  tag_sums: ['tag', ...sums, 'counts'],
} as const

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, '2026-01-02'.length)
}

/** Below every id of that moment. */
function firstId(time: number): string {
  return `req_${encodeTime(time)}`
}

/** The same random part, at another time. */
function shiftId(id: string, by: number): string {
  const end = prefixLength + timeLength
  let time = 0
  for (const character of id.slice(prefixLength, end)) time = time * 32 + alphabet.indexOf(character)
  return `${id.slice(0, prefixLength)}${encodeTime(time + by)}${id.slice(end)}`
}

function encodeTime(time: number): string {
  let text = ''
  for (let rest = time; text.length < timeLength; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text
}
