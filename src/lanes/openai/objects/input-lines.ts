import { type Member, scanObject } from '../../../core/json-scan.ts'
import { quote } from '../../../core/quote.ts'
import type { InputLine } from '../../input-lines.ts'
import { readValue } from '../../json-value.ts'
import { openai } from '../lane.ts'
import { findCall } from './batch-call.ts'
import { references } from './references.ts'

/** `{custom_id, method, url, body}`: judged as if each were sent by itself. Source: wire/lanes.md, section 1.3. */
export function readLine(line: Buffer): InputLine | string {
  const scan = scanObject(line, ['url', 'body'])
  if (!scan.ok) return 'it is no JSON object'
  const url = only(scan.members, 'url')
  const body = only(scan.members, 'body')
  // Parsers disagree on which of two counts.
  if (url === null || body === null) return 'it must have one `url` and one `body`'
  const match = findCall(readValue(line, url), openai)
  if (match === null)
    return `its url is nothing that this lane serves in batches: ${quote(line.toString('utf8', url.start, Math.min(url.end, url.start + 100)))}`
  const asked = line.subarray(body.start, body.end)
  const found = openai.inspect(match, '', asked)
  if ('code' in found) return lowerFirst(found.message)
  const objects = found.mayRefer ? references(match, asked) : []
  if ('code' in objects) return lowerFirst(objects.message)
  return { models: found.model === null ? [] : [found.model], objects }
}

function only(members: readonly Member[], name: string): Member | null {
  const found = members.filter((member) => member.name === name)
  return found.length === 1 ? found[0]! : null
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '')
}
