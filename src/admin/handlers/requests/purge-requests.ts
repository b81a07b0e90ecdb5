import { idTime } from '../../../core/ids.ts'
import type { RecordFilter } from '../../../store/api.ts'
import type { PurgedEvent } from '../../contract/requests/request-purge.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { readFilter } from './record-filter.ts'

interface PurgeInput {
  until: string
  bodies: boolean
  key?: string | undefined
  project?: string | undefined
  tags?: string[] | undefined
  user?: string | undefined
}

/** Progress is shown so often, in milliseconds. */
const shownEveryMs = 500

/** Slice by slice, newest first. It is audited before the first, so that one that is broken off has its line too. */
export async function* purgeRequests(
  context: AdminContext,
  { bodies, user, ...input }: PurgeInput,
  signal: AbortSignal,
): AsyncGenerator<PurgedEvent> {
  await context.runtime.ingest()
  const filter = await readPurged(context, input, user)
  const { limit: _, ...asked } = filter
  const resource = { kind: 'requests', id: filter.until ?? '', name: bodies ? 'bodies' : 'records' }
  await audited(context, { operation: 'requests.purge', resource, before: null, after: asked }).audit.note()
  let removed = 0
  let shownAt = performance.now()
  let before: string | null | undefined
  for (;;) {
    const slice = await context.store.purge({ bodies, filter: { ...filter, ...(before == null ? {} : { before }) } })
    removed += slice.removed
    before = slice.before
    if (before === null || signal.aborted) break
    if (performance.now() - shownAt < shownEveryMs) continue
    shownAt = performance.now()
    const time = idTime(before)
    yield { done: false, removed, time: time === null ? null : new Date(time).toISOString() }
  }
  yield { done: before === null, removed, time: null }
}

async function readPurged(
  context: AdminContext,
  input: Omit<PurgeInput, 'bodies' | 'user'>,
  user: string | undefined,
): Promise<RecordFilter> {
  const filter = await readFilter(context, input)
  if (user === undefined) return filter
  const known = filter.tags?.user
  if (known !== undefined && known !== user)
    throw invalid('--user and --tag user=… name different users.', 'Give one of them.')
  return { ...filter, tags: { ...filter.tags, user } }
}
