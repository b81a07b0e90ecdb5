import type { TokenUsage } from '../../src/core/record.ts'
import type { AnswerReader, Inspection } from '../../src/lanes/contract.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { readErrorBody } from '../../src/providers/wire/status.ts'
import type { Exchange } from './cassettes.ts'
import type { NativeCall } from './vendors.ts'

/** What one exchange showed: `wrong` are faults of the gateway's reading, in words. */
export interface Replayed {
  form: 'whole' | 'stream' | 'error'
  usage: 'reported' | 'estimated' | 'none'
  wrong: string[]
}

const noRequest = Buffer.from('{}')

/** Reads the exchange as the gateway would, without a network: the request first, then the answer as it came. */
export function replay(call: NativeCall, { request, status, headers, answer }: Exchange): Replayed {
  const { match, query, kind, provider } = call
  const { endpoint } = match
  const { requestForms } = endpoint
  const json = requestForms.length === 0 || (requestForms.includes('json') && !isRaw(request))
  if (status >= 300) {
    const meaning = kind.classify({ status, headers }, readErrorBody(answer), provider.settings)
    const wrong = meaning.verdict === 'answer' ? [`${status} was taken for an answer`] : []
    return { form: 'error', usage: 'none', wrong }
  }
  const inspection = json
    ? endpoint.inspect(match, query, request.length === 0 && requestForms.length > 0 ? noRequest : request)
    : endpoint.inspectForm(match, query, [])
  if ('code' in inspection) return { form: 'whole', usage: 'none', wrong: [`the request: ${inspection.message}`] }
  const wrong: string[] = []
  const references = json && inspection.mayRefer ? endpoint.references(inspection.query, request) : []
  if ('code' in references) wrong.push(`its references: ${references.message}`)
  // The recorded answer has what its client asked for.
  const change = { renameTo: null, askForUsage: false }
  const streamed = inspection.framing !== null && isEventStream(answer)
  const asked: Inspection = streamed ? inspection : { ...inspection, framing: null }
  const reader = endpoint.reader(asked, change, kind.usageConvention?.(provider))
  wrong.push(...(streamed ? readStream(reader, inspection, answer) : readWhole(reader, answer)))
  const usage = reader.usage()
  if (usage !== null) wrong.push(...validateUsage(usage, answer))
  return { form: streamed ? 'stream' : 'whole', usage: usage === null ? missing(reader) : 'reported', wrong }
}

/** A file, or a part of one. */
function isRaw(request: Buffer): boolean {
  return request.length > 0 && !request.toString('latin1', 0, 100).trimStart().startsWith('{')
}

/** Archives leave headers out, so the form tells. */
function isEventStream(answer: Buffer): boolean {
  return /^\s*(?:event|data|id|retry)?:/.test(answer.toString('latin1', 0, 200))
}

/** As the record would have it. */
function missing(reader: AnswerReader): Replayed['usage'] {
  return reader.estimable && reader.seen().framing !== null ? 'estimated' : 'none'
}

function readStream(reader: AnswerReader, { framing }: Inspection, answer: Buffer): string[] {
  if (framing === null) return []
  const framer = openFramer(framing)
  const events = [...framer.push(answer), framer.rest()].filter((event) => event !== null)
  const passed = events.map((event) => reader.event(event).pass ?? Buffer.alloc(0))
  const wrong: string[] = []
  if (!Buffer.concat(passed).equals(answer)) wrong.push('the stream did not pass byte for byte')
  const end = reader.end()
  if (end !== null) wrong.push(end)
  return wrong
}

function readWhole(reader: AnswerReader, answer: Buffer): string[] {
  if (answer.length === 0) return []
  const reading = reader.body(answer)
  return reading.wrong === null ? [] : [reading.wrong]
}

/** Every total that the answer gives, of any vendor: some run, and some are of a part. */
const totals = /"(?:total_tokens|totalTokenCount)"\s*:\s*(\d+)/g

function validateUsage(usage: TokenUsage, answer: Buffer): string[] {
  const wrong: string[] = []
  const given = [...answer.toString().matchAll(totals)].map(([, count]) => Number(count))
  if (given.length > 0 && !given.includes(usage.input + usage.output))
    wrong.push(`usage is ${usage.input} + ${usage.output}, and the provider's total ${given.at(-1)}`)
  const { cache_read, cache_write, reasoning } = usage
  if (cache_read + cache_write > usage.input) wrong.push('more cached tokens than input')
  if (reasoning > usage.output) wrong.push('more reasoning than output')
  return wrong
}
