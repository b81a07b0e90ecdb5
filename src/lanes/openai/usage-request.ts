import type { Fault } from '../../core/errors.ts'
import { type Member, scanObject } from '../../core/json-scan.ts'
import { readValue } from '../json-value.ts'
import { type Edit, refuseOdd } from '../request-body.ts'

/**
 * What to write into a streamed chat or completions body so that the provider reports usage; null when the client asked
 * for it itself, or wrote something that only the provider may judge. Of a repeated key the last counts, as in every parser we know.
 */
export function askForUsage(body: Buffer, root: { start: number }, members: readonly Member[]): Edit | Fault | null {
  const options = members.findLast((member) => member.name === 'stream_options')
  if (options === undefined) return insert(root.start + 1, '"stream_options":{"include_usage":true},')
  if (body[options.start] === 0x6e) return replace(options, '{"include_usage":true}')
  const inside = scanObject(body, ['include_usage'], options)
  if (!inside.ok) return null
  const odd = refuseOdd(body, inside)
  if (odd !== null) return odd
  const asked = inside.members.at(-1)
  if (asked === undefined)
    return insert(inside.start + 1, inside.empty ? '"include_usage":true' : '"include_usage":true,')
  const value = readValue(body, asked)
  return value === false || value === null ? replace(asked, 'true') : null
}

function insert(at: number, text: string): Edit {
  return { span: { start: at, end: at }, text }
}

function replace(member: Member, text: string): Edit {
  return { span: { start: member.start, end: member.end }, text }
}
