import { escapeControls, formatMilliseconds, valueAt } from '../../src/admin/contract/show-value.ts'
import type { Io } from '../io.ts'

/**
 * The answer's text alone on stdout, as it comes; what else there is to say on stderr. Gives whether it came to its end
 * without an error.
 */
export async function printAnswer(
  open: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  io: Io,
): Promise<boolean> {
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort())
  const told: Told = { requestId: '', ok: false, endsLine: true, refusal: '' }
  try {
    for await (const event of await open(stop.signal)) await printEvent(event, told, io)
  } catch (error) {
    // Aborting the call makes it fail on its way out: that is how it was asked to end.
    if (!stop.signal.aborted) throw error
  } finally {
    release()
    if (!told.endsLine) await io.stdout.write('\n')
  }
  return told.ok
}

interface Told {
  requestId: string
  ok: boolean
  endsLine: boolean
  /** The body of an answer that is an error. */
  refusal: string
}

async function printEvent(event: unknown, told: Told, io: Io): Promise<void> {
  const kind = valueAt(event, 'kind')
  if (kind === 'begin') {
    const status = Number(valueAt(event, 'status'))
    told.requestId = String(valueAt(event, 'request_id'))
    told.ok = status >= 200 && status < 300
  } else if (kind === 'part') {
    const text = printable(String(valueAt(event, 'text')))
    if (!told.ok) told.refusal += String(valueAt(event, 'raw'))
    if (text === '') return
    told.endsLine = text.endsWith('\n')
    await io.stdout.write(text)
  } else await printEnd(event, told, io)
}

async function printEnd(event: unknown, told: Told, io: Io): Promise<void> {
  const error = valueAt(event, 'error')
  if (!told.endsLine) await io.stdout.write('\n')
  told.endsLine = true
  if (told.refusal !== '') await io.stderr.write(`${printable(told.refusal.trim())}\n`)
  if (typeof error === 'string') {
    told.ok = false
    await io.stderr.write(`The response was cut off: ${escapeControls(error)}\n`)
  }
  const first = valueAt(event, 'first_text_ms')
  const began = typeof first === 'number' ? `first text after ${formatMilliseconds(first)}, ` : ''
  const took = formatMilliseconds(Number(valueAt(event, 'duration_ms')))
  await io.stderr.write(`${began}finished after ${took}. See: spgw requests show ${told.requestId}\n`)
}

/** A model may answer anything: its lines are kept, escape sequences in them are shown, not obeyed. */
function printable(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}
