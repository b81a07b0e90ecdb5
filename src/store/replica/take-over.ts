import { readHead } from '../records/record-head.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import type { ForeignRecord } from './replica-types.ts'

/** No run of this gateway: nothing of them is ever under way here. */
const owner = 'another node'

/** Records of other nodes, each once; and none of them is brought to PostgreSQL again. Returns how many were new. */
export function takeOver(hot: HotStatements, records: readonly ForeignRecord[]): number {
  const { outbox } = hot
  hot.outbox = null
  try {
    return records.filter((record) => addOne(hot, record)).length
  } finally {
    hot.outbox = outbox
  }
}

function addOne(hot: HotStatements, { text, repeats, last_time }: ForeignRecord): boolean {
  const head = readHead(text, 'settled')
  if (head === null || hot.hasRecord(head.id)) return false
  hot.writeRecord(head, owner, text)
  if (repeats !== null && last_time !== null) hot.addRepeat(head.id, repeats, last_time)
  return true
}
