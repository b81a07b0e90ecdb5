import { groupDigits } from './show-number.ts'

/** What a node has not brought to PostgreSQL yet, as `cluster status` and `status` answer it. */
export interface ShownOutbox {
  records: number
  since: string | null
  history: boolean
  trouble: string | null
  /** An older gateway does not tell. */
  usage?: number
}

export function isOutbox(value: unknown): value is ShownOutbox {
  if (typeof value !== 'object' || value === null) return false
  return 'records' in value && 'history' in value && 'trouble' in value && typeof value.records === 'number'
}

/** `45 records, the oldest 5 s ago, usage of 3 batches or responses`; `formatTime`: as a person wants it. */
export function formatOutbox(
  { records, since, history, trouble, usage = 0 }: ShownOutbox,
  formatTime: (time: string) => string,
): string {
  // Bodies stand in the outbox before their records.
  const what = records === 0 ? 'captured bodies' : `${groupDigits(records)} ${records === 1 ? 'record' : 'records'}`
  const parts = [
    ...(since === null ? [] : [`${what}, the oldest ${formatTime(since)}`]),
    ...(history ? ['records from before they were shared'] : []),
    ...(usage === 0
      ? []
      : [`usage of ${groupDigits(usage)} ${usage === 1 ? 'batch or response' : 'batches or responses'}`]),
  ]
  const none = trouble === null ? 'nothing' : 'nothing; PostgreSQL takes none'
  return `${parts.length === 0 ? none : parts.join('; ')}${trouble === null ? '' : `: ${trouble}`}`
}
