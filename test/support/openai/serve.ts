import {
  isObject,
  type MockAnswer,
  type MockCall,
  type MockUsage,
  reported,
  streamAnswer,
  wholeAnswer,
} from '../mock-format.ts'
import { assistants } from './assistants.ts'
import { calls } from './calls.ts'
import { type FamilyCall, type FamilyRow, type Given, Located, Refusal, readBody } from './family.ts'
import { files } from './files.ts'
import { media } from './media.ts'
import { responses } from './responses.ts'
import { stores } from './stores.ts'
import { training } from './training.ts'

export const families: readonly FamilyRow[] = [
  ...files,
  ...responses,
  ...stores,
  ...media,
  ...training,
  ...assistants,
  ...calls,
]

const compiled = families.map((row) => {
  const [method, path = ''] = row.call.split(' ')
  return { row, method, form: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`) }
})

/** Families that the vendor keeps behind a header; its SDKs send it. */
const behindBeta = /^\/v1\/(?:assistants|threads|vector_stores)/

/** The answer to a call of a family that keeps objects; null where there is no such path. */
export function serveFamily(
  call: MockCall,
  usage: MockUsage,
  headers: (contentType?: string) => [string, string][],
): MockAnswer | null {
  for (const { row, method, form } of compiled) {
    const ids = method === call.method ? form.exec(call.path)?.slice(1).map(decodeURIComponent) : undefined
    if (ids === undefined) continue
    const given = answer(row, call, usage, ids)
    return write(given, call, usage, headers)
  }
  return null
}

function answer(row: FamilyRow, call: MockCall, usage: MockUsage, ids: string[]): Given {
  if (behindBeta.test(call.path) && call.headers.get('openai-beta') !== 'assistants=v2')
    return new Refusal(400, "You must provide the 'OpenAI-Beta' header to access this API.", null, 'invalid_beta')
  const read = readBody(call, row.takes)
  if (read === null) return new Refusal(400, `The body is not what ${row.call} takes.`)
  const has = (name: string) =>
    read.body[name] !== undefined || read.files.some((file) => file.name === name || file.name === `${name}[]`)
  const missing = row.required.find((name) => !has(name))
  if (missing !== undefined)
    return new Refusal(400, `Missing required parameter: '${missing}'.`, missing, 'missing_required_parameter')
  const account = call.objects.of(credentialOf(call))
  const given: FamilyCall = { call, account, ids, body: read.body, files: read.files, usage }
  return row.handle(given)
}

export function credentialOf(call: MockCall): string {
  return /^Bearer (.+)$/.exec(call.headers.get('authorization') ?? '')?.[1] ?? ''
}

function write(
  given: Given,
  call: MockCall,
  usage: MockUsage,
  headers: (type?: string) => [string, string][],
): MockAnswer {
  if (given instanceof Refusal) {
    const { message, param, code } = given
    const error = { message, type: 'invalid_request_error', param, code }
    return wholeAnswer(given.status, headers(), JSON.stringify({ error }, null, 2))
  }
  if (given instanceof Located)
    return wholeAnswer(201, [...headers('application/sdp'), ['Location', given.location]], given.sdp)
  if (Buffer.isBuffer(given))
    return { status: 200, headers: headers('application/octet-stream'), parts: [given], streamed: false, usage: null }
  if ('stream' in given && Array.isArray(given.stream)) {
    const counted = 'tokens' in given && given.tokens === true
    return streamAnswer(
      headers('text/event-stream; charset=utf-8'),
      given.stream.map(String),
      counted ? reported(usage) : null,
    )
  }
  const plain = isObject(given) && Object.keys(given).join() === 'text' && typeof given.text === 'string'
  if (plain) return wholeAnswer(200, headers('text/plain; charset=utf-8'), String(given.text))
  return wholeAnswer(200, headers(), JSON.stringify(given, null, 2), countsTokens(call) ? reported(usage) : null)
}

/** Those of these families that use a model and say how much. */
function countsTokens({ path }: MockCall): boolean {
  return /^\/v1\/(?:images\/|audio\/trans|decisions|responses\/compact)/.test(path)
}
