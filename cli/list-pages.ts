import { escapeControls, formatValue, valueAt } from '../src/admin/contract/show-value.ts'
import type { Io } from './io.ts'
import type { GatewayClient } from './operation.ts'
import { stdoutView } from './print/view.ts'

const search = ['requests', 'search']
const usualLimit = 50

/**
 * The rows of a list that is searched for: page after page, until there are as many as were asked for or nothing is left, and a
 * person is told how far it is. Ctrl-C ends it with what was found.
 */
export async function listPages(
  input: Readonly<Record<string, unknown>>,
  gateway: GatewayClient,
  utc: boolean,
  io: Io,
): Promise<unknown[]> {
  const limit = typeof input.limit === 'number' ? input.limit : usualLimit
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort())
  const found: unknown[] = []
  let before = input.before
  try {
    for (;;) {
      const asked = { ...input, limit: limit - found.length, ...(before === undefined ? {} : { before }) }
      const page = await gateway.call(search, asked, { signal: stop.signal })
      const rows = valueAt(page, 'requests')
      if (Array.isArray(rows)) found.push(...rows)
      before = valueAt(page, 'before')
      const reached = valueAt(page, 'searched_until')
      if (found.length >= limit || typeof before !== 'string' || typeof reached !== 'string') return found
      const back = formatValue(reached, 'time', stdoutView(io, utc))
      await io.stderr.write(`Searched back to ${back}, found ${found.length}. Searching on.\n`)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
    const rest = typeof before === 'string' ? ` Continue with --before ${escapeControls(before)}.` : ''
    await io.stderr.write(`Stopped: what is older was not searched.${rest}\n`)
    return found
  } finally {
    release()
  }
}
