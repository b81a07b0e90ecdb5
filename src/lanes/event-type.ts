import type { StreamEvent } from './contract.ts'

const namedType = /"type"\s*:\s*"([a-z_.]+)"/

/** The SSE name, else the first `type` in the data: vendors that leave the name out write it first. */
export function eventType(event: StreamEvent): string {
  if (event.name !== '') return event.name
  return namedType.exec(event.data.toString('latin1', 0, 4096))?.[1] ?? ''
}
