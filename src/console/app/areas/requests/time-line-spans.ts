import { listSteps, type RequestStep } from '../../../../admin/contract/requests/request-steps.ts'
import { formatMilliseconds } from '../../../../admin/contract/show-value.ts'
import type { AttemptRecord, RequestRecord } from '../../../../core/record.ts'

/** A part of a request's time, counted from the moment it was received. */
export interface TimeLineSpan {
  part: 'admit' | 'pause' | 'skip' | 'connect' | 'wait' | 'content' | 'failed' | 'answer'
  fromMs: number
  toMs: number
}

export interface TimeLineLane {
  key: string
  name: string
  note: string
  spans: TimeLineSpan[]
}

export interface TimeLineDrawing {
  totalMs: number
  lanes: TimeLineLane[]
}

/** Round tick values: zero, and three to seven more. */
export function ticksOf(totalMs: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(totalMs / 3))
  const step = magnitude * ([5, 2, 1].find((each) => totalMs / (each * magnitude) >= 3) ?? 1)
  return Array.from({ length: Math.floor(totalMs / step + 1e-9) + 1 }, (_, index) => index * step)
}

/** Where each part begins and ends; what has no length or no end is left out. */
export function drawTimeLine(record: RequestRecord): TimeLineDrawing {
  const totalMs = totalMsOf(record)
  const lanes = [gatewayLane(record, totalMs), ...stepLanes(listSteps(record), totalMs)]
  const answer = answerLane(record, totalMs)
  return { totalMs, lanes: answer === null ? lanes : [...lanes, answer] }
}

function totalMsOf({ duration_ms, timeline, attempts }: RequestRecord): number {
  const marks = [...timeline.map(({ at_ms }) => at_ms), ...attempts.map(({ ended_ms }) => ended_ms ?? 0)]
  return Math.max(duration_ms ?? 0, 0, ...marks)
}

function gatewayLane({ timeline, attempts }: RequestRecord, totalMs: number): TimeLineLane {
  const admitted = timeline.find(({ event }) => event === 'admitted')?.at_ms
  const until = admitted ?? attempts[0]?.started_ms ?? totalMs
  const note = admitted === undefined && attempts.length === 0 ? 'Ended here' : 'Received, admitted, planned'
  return { key: 'gateway', name: 'Gateway', note, spans: spansOf([['admit', 0, until]]) }
}

/** A lane for each attempt and each skipped target; a wait is drawn before the step that it led to. */
function stepLanes(steps: readonly RequestStep[], totalMs: number): TimeLineLane[] {
  let number = 0
  return steps.flatMap((step, index) => {
    if (step.kind === 'wait') return []
    const before = steps[index - 1]
    const waits: TimeLineSpan[] =
      before?.kind === 'wait' ? [{ part: 'pause', fromMs: before.startMs, toMs: before.endMs }] : []
    if (step.kind === 'skip') return [skipLane(step, index, waits)]
    number++
    return [attemptLane(step, number, totalMs, waits)]
  })
}

function skipLane(
  { target, reason, startMs }: Extract<RequestStep, { kind: 'skip' }>,
  index: number,
  waits: TimeLineSpan[],
): TimeLineLane {
  const mark: TimeLineSpan = { part: 'skip', fromMs: startMs, toMs: startMs }
  return { key: `skip-${index}`, name: target, note: `Skipped: ${reason}`, spans: [...waits, mark] }
}

function attemptLane(
  { attempt, end: result }: Extract<RequestStep, { kind: 'attempt' }>,
  number: number,
  totalMs: number,
  waits: TimeLineSpan[],
): TimeLineLane {
  const { provider, upstream_model: upstream, started_ms: start } = attempt
  const name = upstream === '' ? provider : `${provider}:${upstream}`
  const note = `Attempt ${number}: ${noteOf(attempt, result, totalMs - start)}`
  return { key: `attempt-${number - 1}`, name, note, spans: [...waits, ...attemptSpans(attempt, totalMs, result)] }
}

function attemptSpans(attempt: AttemptRecord, totalMs: number, result: string): TimeLineSpan[] {
  const { outcome, started_ms: start, first_byte_ms: first } = attempt
  const end = attempt.ended_ms ?? totalMs
  const connected = attempt.connected_ms ?? start
  const connect = ['connect', start, connected] as const
  if (outcome !== 'answered' && outcome !== 'started') return spansOf([connect, ['failed', connected, end]])
  const content = result.endsWith('broke off') ? 'failed' : 'content'
  return spansOf([connect, ['wait', connected, first ?? end], [content, first ?? end, end]])
}

/** What the status does not say: how long it took to break off, and that it was tried elsewhere. */
function noteOf({ outcome, started_ms: start, ended_ms: end }: AttemptRecord, result: string, restMs: number): string {
  if (result.endsWith('broke off')) return `${result} after ${formatMilliseconds((end ?? start + restMs) - start)}`
  if (outcome === 'fallback') return `${result}, fell back`
  return outcome === 'retry' ? `${result}, tried again` : result
}

function answerLane({ first_byte_ms: first, timeline }: RequestRecord, totalMs: number): TimeLineLane | null {
  if (first === null) return null
  const last = timeline.findLast(({ event }) => event === 'last_byte' || event === 'done')?.at_ms ?? totalMs
  return { key: 'answer', name: 'Client', note: 'Response', spans: spansOf([['answer', first, Math.max(first, last)]]) }
}

function spansOf(
  parts: readonly (readonly [part: TimeLineSpan['part'], fromMs: number, toMs: number])[],
): TimeLineSpan[] {
  const long = parts.filter(([, from, to]) => to > from)
  // What took no measurable time is still shown once, so that no lane is empty.
  const shown = long.length > 0 ? long : parts.slice(-1)
  return shown.map(([part, fromMs, toMs]) => ({ part, fromMs, toMs: Math.max(fromMs, toMs) }))
}
