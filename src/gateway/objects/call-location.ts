import type { Exchange } from '../exchange.ts'
import { findHeader } from '../headers.ts'
import type { Answer } from '../judge.ts'
import { objectsEntry } from './note-answer.ts'

const located = /\/realtime\/calls\/([\w-]{1,128})$/
const none: readonly string[] = []

/** The call that was begun is told of by a header alone: its id is put on the exchange, for the journal. */
export function noteCall(exchange: Exchange, answer: Answer): void {
  const id = callId(exchange, answer)
  if (id === null) return
  exchange.objects = objectsEntry(exchange, answer, { made: [{ type: 'call', id }], forgotten: [] })
}

/** Where clients read it: below this gateway. */
export function callLocation(exchange: Exchange, answer: Answer): readonly string[] {
  const id = callId(exchange, answer)
  return id === null ? none : ['location', `${exchange.lane!.prefix}/realtime/calls/${id}`]
}

function callId({ match }: Exchange, { gated, error }: Answer): string | null {
  if (match!.endpoint.readWhole !== true || error !== null) return null
  return located.exec(findHeader(gated.head.headers, 'location') ?? '')?.[1] ?? null
}
