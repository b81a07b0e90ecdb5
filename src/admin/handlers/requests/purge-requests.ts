import { idTime } from '../../../core/ids.ts'
import type { PurgeQuestion, RecordFilter } from '../../../store/api.ts'
import type { PurgedEvent } from '../../contract/requests/request-purge.ts'
import { audited } from '../audited.ts'
import type { AdminContext, PurgeProgress } from '../context.ts'
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
  const question = { bodies, filter }
  let shownAt = performance.now()
  for await (const progress of context.runtime.cluster?.purge(question) ?? purgeHere(context, question)) {
    const over = progress.done || signal.aborted
    if (!over && performance.now() - shownAt < shownEveryMs) continue
    shownAt = performance.now()
    const { done, removed, before, missing } = progress
    const time = before === null ? null : idTime(before)
    yield { done, removed, time: over || time === null ? null : new Date(time).toISOString(), missing }
    if (over) return
  }
}

async function* purgeHere({ store }: AdminContext, { bodies, filter }: PurgeQuestion): AsyncGenerator<PurgeProgress> {
  let removed = 0
  for (let asked = filter; ; ) {
    const slice = await store.purge({ bodies, filter: asked })
    removed += slice.removed
    yield { done: slice.before === null, removed, before: slice.before, missing: [] }
    if (slice.before === null) return
    asked = { ...filter, before: slice.before }
  }
}

async function readPurged(
  context: AdminContext,
  input: Omit<PurgeInput, 'bodies' | 'user'>,
  user: string | undefined,
): Promise<RecordFilter> {
  const filter = await readFilter(context, input)
  if (user === undefined) return filter
  // Null: whatever the value.
  const known = filter.tags?.user ?? user
  if (known !== user) throw invalid('--user and --tag user=… name different users.', 'Give one of them.')
  return { ...filter, tags: { ...filter.tags, user } }
}
