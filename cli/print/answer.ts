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
  const state: AnswerState = { requestId: '', ok: false, endsLine: true, errorBody: '' }
  try {
    for await (const event of await open(stop.signal)) await printEvent(event, state, io)
  } catch (error) {
    // Aborting the call makes it fail on its way out: that is how it was asked to end.
    if (!stop.signal.aborted) throw error
  } finally {
    release()
    if (!state.endsLine) await io.stdout.write('\n')
  }
  return state.ok
}

interface AnswerState {
  requestId: string
  ok: boolean
  endsLine: boolean
  /** The body of an answer that is an error. */
  errorBody: string
}

async function printEvent(event: unknown, state: AnswerState, io: Io): Promise<void> {
  const kind = valueAt(event, 'kind')
  if (kind === 'begin') {
    const status = Number(valueAt(event, 'status'))
    state.requestId = String(valueAt(event, 'request_id'))
    state.ok = status >= 200 && status < 300
  } else if (kind === 'part') {
    const text = printable(String(valueAt(event, 'text')))
    if (!state.ok) state.errorBody += String(valueAt(event, 'raw'))
    if (text === '') return
    state.endsLine = text.endsWith('\n')
    await io.stdout.write(text)
  } else await printEnd(event, state, io)
}

async function printEnd(event: unknown, state: AnswerState, io: Io): Promise<void> {
  const error = valueAt(event, 'error')
  if (!state.endsLine) await io.stdout.write('\n')
  state.endsLine = true
  if (state.errorBody !== '') await io.stderr.write(`${printable(state.errorBody.trim())}\n`)
  if (typeof error === 'string') {
    state.ok = false
    await io.stderr.write(`The response was cut off: ${escapeControls(error)}\n`)
  }
  const first = valueAt(event, 'first_text_ms')
  const began = typeof first === 'number' ? `first text after ${formatMilliseconds(first)}, ` : ''
  const took = formatMilliseconds(Number(valueAt(event, 'duration_ms')))
  await io.stderr.write(`${began}finished after ${took}. See: spgw requests show ${state.requestId}\n`)
}

/** A model may answer anything: its lines are kept, escape sequences in them are shown, not obeyed. */
function printable(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}
