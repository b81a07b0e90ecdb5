import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import type { RequestRecord } from '../../src/core/record.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { startSilentListener } from '../support/silent-listener.ts'

let plane: DataPlane
let provider: Awaited<ReturnType<typeof startSilentListener>>

beforeAll(async () => {
  provider = await startSilentListener()
  plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${provider.port}/v1` }],
    timeouts: { firstByte: 50, total: 50 },
  })
})
afterAll(async () => {
  await plane.stop()
  provider.close()
})

async function ask(path: string, options: RequestInit & { headers?: Record<string, string> } = {}) {
  const headers = { authorization: `Bearer ${plane.key}`, ...options.headers }
  const response = await fetch(plane.baseUrl + path, { method: 'POST', ...options, headers })
  await response.text()
  return plane.record(response.headers.get('x-sp-request-id'))
}

const asked = ({ method, path }: RequestRecord) => ({ method, path })

it("a record shows no vendor's key, wherever its client put it", async () => {
  const key = 'sk-proj-AbCd0123EfGh4567ijKlMnOp'
  const body = JSON.stringify({ model: key, user: key, messages: [] })
  const headers = { 'user-agent': `app ${key}`, 'x-sp-tag': `t=${key}` }
  const record = await ask(`/v1/chat/completions?key2=${key}`, { body, headers })
  expect(JSON.stringify(record)).not.toContain('AbCd0123')
  expect(record).toMatchObject({ model: 'sk-…', client: { user_agent: 'app sk-…' }, tags: { t: 'sk-…' } })
})

describe('method and path of a record', () => {
  it('are those of the request, without the query', async () => {
    const body = JSON.stringify({ model: 'openai-model', messages: [] })
    expect(asked(await ask('/v1/chat/completions?a=b', { body }))).toEqual({
      method: 'POST',
      path: '/v1/chat/completions',
    })
    expect(asked(await ask('/v1/models', { method: 'HEAD' }))).toEqual({ method: 'HEAD', path: '/v1/models' })
  })

  it('are on refusals, too', async () => {
    const nobody = { headers: { authorization: '' } }
    expect(asked(await ask('/v1/nothing/here?x', nobody))).toEqual({ method: 'POST', path: '/v1/nothing/here' })
    expect(asked(await ask('/else', { method: 'DELETE' }))).toEqual({ method: 'DELETE', path: '/else' })
    expect(asked(await ask('/upload/v1beta/files', nobody))).toEqual({ method: 'POST', path: '/upload/v1beta/files' })
    const long = await ask(`/v1/${'a'.repeat(1000)}`)
    expect(long.path).toHaveLength(513)
  })

  it('are on sockets', async () => {
    const socket = new WebSocket(`${plane.baseUrl.replace('http', 'ws')}/v1/realtime?model=none`, {
      headers: { authorization: `Bearer ${plane.key}` },
    })
    const id = await new Promise<string>((resolve) =>
      socket.once('unexpected-response', (_request, response) => resolve(String(response.headers['x-sp-request-id']))),
    )
    expect(asked(await plane.record(id))).toEqual({ method: 'GET', path: '/v1/realtime' })
  })

  it('are null where nothing could be read', async () => {
    const { port } = new URL(plane.baseUrl)
    const text = await new Promise<string>((resolve) => {
      const socket = net.connect(Number(port), '127.0.0.1').end('nonsense\r\n\r\n')
      let read = ''
      socket.on('data', (bytes) => (read += bytes)).on('close', () => resolve(read))
    })
    const id = /x-sp-request-id: (\S+)/.exec(text)?.[1] ?? null
    expect(asked(await plane.record(id))).toEqual({ method: null, path: null })
  })
})

it('writes what it does not know yet as null', async () => {
  const record = await ask('/v1/chat/completions', { body: '{"model":"openai-model","messages":[]}' })
  expect(record).toMatchObject({ usage_detail: null, estimate_error: null, shadow_of: null })
  expect(record.attempts).toEqual([expect.objectContaining({ cost: null })])
})

describe('a gateway key in the text of a client', () => {
  const chat = (more: object) => ({ body: JSON.stringify({ model: 'openai-model', messages: [], ...more }) })
  const escaped = () => plane.key.replaceAll('_', '%5F')
  const calls: [string, () => Promise<RequestRecord>][] = [
    ['user agent', () => ask('/v1/chat/completions', { ...chat({}), headers: { 'user-agent': `x ${plane.key}` } })],
    ['tag', () => ask('/v1/chat/completions', { ...chat({}), headers: { 'x-sp-tag': `k=${plane.key}` } })],
    ['name of a tag', () => ask('/v1/chat/completions', { ...chat({}), headers: { 'x-sp-tag': `${plane.key}=v` } })],
    ['end user', () => ask('/v1/chat/completions', chat({ user: plane.key }))],
    ['model', () => ask('/v1/chat/completions', chat({ model: plane.key }))],
    ['cut user agent', () => ask('/v1/models', { headers: { 'user-agent': 'x'.repeat(480) + plane.key } })],
    ['path', () => ask(`/v1/${plane.key}/x`)],
    ['escaped path', () => ask(`/v1/${escaped()}/x`)],
    ['path without a lane', () => ask(`/${plane.key}`, { headers: { authorization: '' } })],
    ['object id', () => ask(`/v1/files/${plane.key}`, { method: 'GET' })],
    ['escaped object id', () => ask(`/v1/files/${escaped()}`, { method: 'GET' })],
    ['scope', () => ask('/v1/chat/completions', { ...chat({}), headers: { 'x-sp-project': plane.key } })],
  ]

  it.each(calls)('is masked on its record: %s', async (_where, call) => {
    const text = JSON.stringify(await call())
    expect(text).toContain('sp_live_…')
    expect(decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, ''))).not.toContain(plane.key.slice(0, 20))
  })
})
