import { once } from 'node:events'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { packageExecutable } from '../package.ts'
import { residentBytes, start, untilQuiet } from './children.ts'
import type { Order } from './command-line.ts'
import type { Machine } from './machine.ts'
import { renderTable } from './report.ts'
import { prepareSpgw, type SpgwTarget } from './spgw.ts'

const sampleMs = 20
const large = 2_000_000_000
const medium = 10_000_000
const atOnce = 200

/** Who sends and who asks: one key without limits, and the provider among several of its format. */
interface Client {
  port: number
  headers: Record<string, string>
  /** The last one made. */
  file: string
}

interface Trial {
  name: string
  /** Bytes of all bodies together. */
  bytes: number
  run(client: Client): Promise<void>
}

const trials: readonly Trial[] = [
  { name: 'a file of 2 GB up, with its length', bytes: large, run: (client) => upload(client, large, true) },
  { name: 'the same in chunks', bytes: large, run: (client) => upload(client, large, false) },
  {
    name: 'the same as a form whose `model` comes first',
    bytes: large,
    run: (client) => upload(client, large, true, 'model'),
  },
  { name: 'a file of 2 GB down', bytes: large, run: (client) => download(client, large) },
  {
    name: '200 files of 10 MB up at once',
    bytes: atOnce * medium,
    run: (client) => all((one) => upload(one, medium, true), client),
  },
  {
    name: '200 files of 10 MB down at once',
    bytes: atOnce * medium,
    run: (client) => all((one) => download(one, medium), client),
  },
]

/**
 * What the packaged executable grows by while bodies pass, in a table: each time one that has just started and done nothing
 * else. Throws where a byte is missing.
 */
export async function measureBodies(order: Order, machine: Machine, place: string, directory: string): Promise<string> {
  const executable = resolve(order.executable ?? (await packageExecutable(join(place, 'spgw-measured'))))
  const provider = start(machine, [process.execPath, join(import.meta.dirname, 'bodies-provider.ts')], {
    place: 'load',
  })
  const [first] = (await once(createInterface({ input: provider.stdout! }), 'line')) as [string]
  const port = Number(first.split(' ')[1])
  const begin = await prepareSpgw({
    machine,
    mock: { port },
    tls: null,
    directory,
    command: [executable],
    name: 'spgw',
  })
  const rows: string[][] = []
  for (const trial of trials) {
    const target = await begin({ settings: { SPGW_GATEWAY_UPLOAD_LIMIT: '3GB' } })
    rows.push(await measureTrial(target, trial))
    await target.stop()
  }
  return renderTable(['', 'memory before', 'growth', 'MB a second'], rows)
}

async function measureTrial(target: SpgwTarget, trial: Trial): Promise<string[]> {
  const client = await makeClient(target)
  // What is downloaded must be of the key's own scope.
  await upload(client, 1, true)
  await untilQuiet(target.pid, 3)
  const before = residentBytes(target.pid)
  let most = before
  const sampling = setInterval(() => (most = Math.max(most, residentBytes(target.pid))), sampleMs)
  const begun = performance.now()
  await trial.run(client)
  const seconds = (performance.now() - begun) / 1000
  clearInterval(sampling)
  return [trial.name, ...[before, most - before].map(megabytes), (trial.bytes / seconds / 1e6).toFixed(0)]
}

async function makeClient(target: SpgwTarget): Promise<Client> {
  const created = await target.runCommand('keys create --name bodies --json')
  await target.runCommand('routes add bodies --provider openai')
  const key = /sp_live_\w+/.exec(created)?.[0] ?? ''
  const headers = { authorization: `Bearer ${key}`, 'x-sp-provider': 'openai' }
  return { port: target.port, headers, file: '' }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}

async function all(one: (client: Client) => Promise<void>, client: Client): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => one(client)))
}

const boundary = 'bench-boundary'
const piece = Buffer.alloc(256 * 1024, 'spgw')

function formStart(model?: 'model'): string {
  const field =
    model === undefined ? '' : `--${boundary}\r\ncontent-disposition: form-data; name="model"\r\n\r\nbodies\r\n`
  return `${field}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`
}

const formEnd = `\r\n--${boundary}--\r\n`

async function upload(client: Client, bytes: number, withLength: boolean, model?: 'model'): Promise<void> {
  const begin = formStart(model)
  const length = begin.length + bytes + formEnd.length
  const request = open(client, 'POST', model === undefined ? '/v1/files' : '/v1/images/edits', {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    ...(withLength ? { 'content-length': String(length) } : {}),
  })
  const answer = readAnswer(request)
  request.write(begin)
  for (let left = bytes; left > 0; left -= piece.length)
    if (!request.write(left < piece.length ? piece.subarray(0, left) : piece))
      await Promise.race([once(request, 'drain'), answer])
  request.end(formEnd)
  const { text } = await answer
  if (!text.includes(`"bytes":${length}`)) throw new Error(`${length} bytes went up, but: ${text.slice(0, 300)}`)
  client.file = /file-\d+/.exec(text)?.[0] ?? ''
}

async function download(client: Client, bytes: number): Promise<void> {
  const { length, text } = await readAnswer(open(client, 'GET', `/v1/files/${client.file}/content?bytes=${bytes}`, {}))
  if (length !== bytes) throw new Error(`${bytes} bytes were asked for, but ${length} came: ${text.slice(0, 300)}`)
}

function open(client: Client, method: string, path: string, headers: Record<string, string>): ClientRequest {
  const { port } = client
  const request = http.request({ port, host: '127.0.0.1', method, path, headers: { ...client.headers, ...headers } })
  request.setMaxListeners(0)
  if (method === 'GET') request.end()
  return request
}

/** The text is of the first bytes. */
async function readAnswer(request: ClientRequest): Promise<{ length: number; text: string }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let length = 0
  let text = ''
  response.on('data', (chunk: Buffer) => {
    if (length < 1000) text += chunk.toString('latin1', 0, 1000)
    length += chunk.length
  })
  await once(response, 'end')
  return { length, text }
}
