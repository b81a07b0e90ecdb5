import { readValue } from '../core/json/json-value.ts'
import { skipSpace, skipValue } from '../core/json/json-walk.ts'
import type { StreamEvent } from './contract.ts'

const colon = 0x3a

/**
 * Byte searches that avoid parsing ordinary events. A quoted name before a colon is a member's key: inside a string the
 * quotes would be escaped, so `"name"` cannot match there. The nesting level is not known.
 */
function valueStart(data: Buffer, quotedName: string, at: number): number {
  const after = skipSpace(data, at + quotedName.length, data.length)
  return data[after] === colon ? skipSpace(data, after + 1, data.length) : -1
}

/** The first byte of the value of a member of this name that is not null; 0 when there is none. */
export function findMember(data: Buffer, quotedName: string): number {
  for (let at = data.indexOf(quotedName); at !== -1; at = data.indexOf(quotedName, at + quotedName.length)) {
    const start = valueStart(data, quotedName, at)
    const first = start === -1 ? 0 : (data[start] ?? 0)
    if (first !== 0 && first !== 0x6e) return first
  }
  return 0
}

/** The most places that are tried: each may cost a scan of everything after it. */
const mostTried = 32

/** The value of the last readable member of this name, for the end of an event whose beginning is gone. */
export function readLastMember(data: Buffer, quotedName: string): unknown {
  let at = data.lastIndexOf(quotedName)
  for (let tried = 0; at > 0 && tried < mostTried; tried++, at = data.lastIndexOf(quotedName, at - 1)) {
    const start = valueStart(data, quotedName, at)
    const end = start === -1 ? -1 : skipValue(data, start)
    if (end > 0) return readValue(data, { start, end })
  }
  return undefined
}

const namedType = /"type"\s*:\s*"([a-z_.]+)"/

/** The SSE event's name, else the first `type` in its data: vendors that leave the name out write `type` first. */
export function eventType(event: StreamEvent): string {
  if (event.name !== '') return event.name
  return namedType.exec(event.data.toString('latin1', 0, 4096))?.[1] ?? ''
}
