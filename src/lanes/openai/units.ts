import { imageSizeOf } from '../../core/cost/asked-tools.ts'
import { scanObject } from '../../core/json/json-scan.ts'
import { asCount, asText, readMembers } from '../../core/json/json-value.ts'
import type { UsageDetail } from '../../core/record.ts'
import { audioSeconds } from '../audio-length.ts'
import type { RequestContent } from '../contract.ts'
import { countCodePoints, usageDetail } from '../usage.ts'

/** The usage that a request implies, for answers that do not report it. Source: the vendor's price list. */

/** Spoken text is charged by the character: a Unicode code point. */
export function readSpeechUnits({ body }: RequestContent): UsageDetail | null {
  const { input } = readMembersOf(body, ['input'])
  return typeof input === 'string' ? usageDetail({ characters: countCodePoints(input) }) : null
}

/** One image unless the request says how many, of the size and quality that it names. */
export function readImageUnits({ body, fields }: RequestContent): UsageDetail | null {
  const asked = body.length > 0 ? readMembersOf(body, ['n', 'size', 'quality']) : fieldsOf(fields)
  return usageDetail({
    images: asCount(Number(asked.n)) || 1,
    image_size: imageSizeOf(asText(asked.size), asText(asked.quality)),
  })
}

/** Transcribed audio is charged by the second. */
export function readTranscriptionUnits({ head, bytes }: RequestContent): UsageDetail | null {
  return bytes === 0 ? null : usageDetail({ seconds: audioSeconds(head, bytes) })
}

function readMembersOf(body: Buffer, names: readonly string[]): Readonly<Record<string, unknown>> {
  const scan = scanObject(body, names)
  return scan.ok ? readMembers(body, scan.members) : {}
}

function fieldsOf(fields: RequestContent['fields']): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]))
}
