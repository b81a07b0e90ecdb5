import type { AttemptRecord, RequestRecord } from '../../../../core/record.ts'

/** A part of a request's time, counted from the moment it was received. */
export interface TimeLineSpan {
  part: 'admit' | 'connect' | 'wait' | 'content' | 'failed' | 'answer'
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
  const lanes = [
    gatewayLane(record, totalMs),
    ...record.attempts.map((attempt, index) => attemptLane(attempt, index, totalMs)),
  ]
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

function attemptLane(attempt: AttemptRecord, index: number, totalMs: number): TimeLineLane {
  const { provider, upstream_model: upstream, status, outcome, started_ms: start } = attempt
  const end = attempt.ended_ms ?? totalMs
  const connected = attempt.connected_ms ?? null
  const first = attempt.first_byte_ms
  const failed = outcome !== 'answered' && outcome !== 'started'
  const name = upstream === '' ? provider : `${provider}:${upstream}`
  return {
    key: `attempt-${index}`,
    name,
    note: `Attempt ${index + 1}: ${status === null ? '' : `${status} `}${outcome.replaceAll('_', ' ')}`,
    spans: failed
      ? spansOf([
          ['connect', start, connected ?? start],
          ['failed', connected ?? start, end],
        ])
      : spansOf([
          ['connect', start, connected ?? start],
          ['wait', connected ?? start, first ?? end],
          ['content', first ?? end, end],
        ]),
  }
}

function answerLane({ first_byte_ms: first, timeline }: RequestRecord, totalMs: number): TimeLineLane | null {
  if (first === null) return null
  const last = timeline.findLast(({ event }) => event === 'last_byte' || event === 'done')?.at_ms ?? totalMs
  return { key: 'answer', name: 'Client', note: 'Response', spans: spansOf([['answer', first, Math.max(first, last)]]) }
}

function spansOf(parts: readonly [part: TimeLineSpan['part'], fromMs: number, toMs: number][]): TimeLineSpan[] {
  const long = parts.filter(([, from, to]) => to > from)
  // What took no measurable time is still shown once, so that no lane is empty.
  const shown = long.length > 0 ? long : parts.slice(-1)
  return shown.map(([part, fromMs, toMs]) => ({ part, fromMs, toMs: Math.max(fromMs, toMs) }))
}
