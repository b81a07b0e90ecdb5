import { setTimeout as wait } from 'node:timers/promises'
import { operations } from './base.ts'
import type { AdminContext } from './context.ts'
import { showStatus } from './status.ts'

/** Between two looks at a state of which nobody tells, and between two pushes. */
const everyMs = 1000

export const watch = operations.watch.handler(async function* ({ context, signal }) {
  yield* watchGateway(context, signal === undefined ? context.closing : AbortSignal.any([signal, context.closing]))
})

interface WatchedState {
  configuration: number
  status: ReturnType<typeof showStatus>
}

/** The state at once and whenever it is another, at most once a second; a change of configuration as soon as that allows. */
async function* watchGateway(
  context: Pick<AdminContext, 'runtime' | 'scope'>,
  ends: AbortSignal,
): AsyncGenerator<WatchedState> {
  const { runtime } = context
  let wake: () => void = () => {}
  const stop = runtime.onChange(() => wake())
  let sent = ''
  let sentAt = Number.NEGATIVE_INFINITY
  try {
    while (!ends.aborted) {
      const watched = { configuration: runtime.changes(), status: showStatus(context) }
      const text = whatCounts(watched)
      if (text !== sent) {
        sent = text
        sentAt = performance.now()
        yield watched
      }
      await Promise.race([pause(everyMs, ends), new Promise<void>((resolve) => (wake = resolve))])
      await pause(sentAt + everyMs - performance.now(), ends)
    }
  } finally {
    stop()
  }
}

/** The store goes on looking for records when there are none: that alone is no change. */
function whatCounts({ configuration, status }: WatchedState): string {
  return JSON.stringify({ configuration, status: { ...status, records_stored_at: null } })
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal.aborted) return
  await wait(milliseconds, undefined, { signal }).catch(() => {})
}
