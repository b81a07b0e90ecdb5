import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { parse, type ScalarTag, type Tags } from 'yaml'
import { asArray, asObject, asString, type JsonObject, parseObject } from '../../src/core/json/json-value.ts'

/** One call that a client made to a real provider, as a test archive keeps it. */
export interface Exchange {
  /** Where it is recorded. */
  file: string
  method: string
  url: URL
  request: Buffer
  status: number
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>
  answer: Buffer
}

/** Every exchange below a folder, from VCR's cassettes: `*.yaml`, `*.yml`, and the same compressed with gzip. */
export function* readExchanges(folder: string): Generator<Exchange> {
  const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  for (const file of files) {
    if (!/\.ya?ml(\.gz)?$/.test(file)) continue
    const bytes = fs.readFileSync(path.join(folder, file))
    const text = (file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes).toString()
    if (text.includes('interactions:') || text.includes('requests:')) yield* readCassette(file, text)
  }
}

function* readCassette(file: string, text: string): Generator<Exchange> {
  const cassette = asObject(parseYaml(text))
  const requests = asArray(cassette?.requests)
  const pairs =
    requests.length > 0
      ? requests.map((request, index) => ({ request, response: asArray(cassette?.responses)[index] }))
      : asArray(cassette?.interactions).map(asObject)
  for (const pair of pairs) {
    const request = asObject(pair?.request)
    const response = asObject(pair?.response)
    const exchange = request === null || response === null ? null : toExchange(file, request, response)
    if (exchange !== null) yield exchange
  }
}

/** Undefined where it is something else than a cassette. */
function parseYaml(text: string): unknown {
  try {
    return parse(text, { ...{ version: '1.1', logLevel: 'silent', maxAliasCount: -1 }, customTags: keepNames })
  } catch {
    return undefined
  }
}

/** In this version of YAML `n` and `no` are false, and a member `n` of a request would be called `false`. */
const keepNames = (tags: Tags): Tags =>
  tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:bool').concat(plainBoolean)

const plainBoolean: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:true|false)$/i,
  resolve: (text) => text.toLowerCase() === 'true',
}

function toExchange(file: string, request: JsonObject, response: JsonObject): Exchange | null {
  const asked = inflate(bodyOf(request))
  const answer = inflate(bodyOf(response))
  const url = URL.parse(asString(request.uri)) ?? guessUrl(asked, answer)
  const status = asObject(response.status)?.code ?? response.status_code
  if (url === null || typeof status !== 'number') return null
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(asObject(response.headers) ?? {}))
    headers.set(name.toLowerCase(), asString(Array.isArray(value) ? value[0] : value))
  return { file, method: asString(request.method).toUpperCase(), url, request: asked, status, headers, answer }
}

/** Some archives hide addresses: the bodies tell which of two vendors was called. */
function guessUrl(request: Buffer, answer: Buffer): URL | null {
  const body = parseObject(request)
  if (body === null) return null
  if (answer.includes('"stop_reason"')) return new URL('https://api.anthropic.com/v1/messages')
  if (body.messages !== undefined) return new URL('https://api.openai.com/v1/chat/completions')
  if (body.input === undefined) return null
  const call = body.encoding_format === undefined ? 'responses' : 'embeddings'
  return new URL(`https://api.openai.com/v1/${call}`)
}

/** As text, as bytes, or parsed already. */
function bodyOf(message: JsonObject): Buffer {
  if (message.parsed_body !== undefined) return Buffer.from(JSON.stringify(message.parsed_body))
  const body = asObject(message.body)?.string ?? message.body
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(asString(body))
}

/** Some are kept as they came over the wire. */
function inflate(body: Buffer): Buffer {
  return body[0] === 0x1f && body[1] === 0x8b ? zlib.gunzipSync(body) : body
}
