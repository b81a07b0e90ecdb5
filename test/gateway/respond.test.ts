import http from 'node:http'
import { expect, it } from 'vitest'
import { startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

it('counts no bytes for an error that answers a HEAD request', async () => {
  const provider = http.createServer((_request, response) => response.writeHead(404).end('{"error":{}}'))
  const baseUrl = `${await listen(provider)}/v1`
  const plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl }] })
  plane.ownAll()
  for (const [path, code] of [
    ['/v1/nothing', 'unknown_path'],
    ['/v1/files/file-1', 'provider_error'],
  ]) {
    const response = await fetch(plane.baseUrl + path, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${plane.key}` },
    })
    expect(response.headers.get('x-sp-error')).toBe(code)
    expect(await plane.record(response.headers.get('x-sp-request-id'))).toMatchObject({
      status: 404,
      response_bytes: 0,
    })
  }
  await plane.stop()
  provider.close()
})

it('says of a path that lacks its beginning what that is', async () => {
  const plane = await startDataPlane({ providers: [] })
  const ask = async (path: string) => {
    const response = await fetch(plane.baseUrl + path, { headers: { authorization: `Bearer ${plane.key}` } })
    return JSON.stringify(await response.json())
  }
  expect(await ask('/chat/completions')).toContain(': all paths begin with /v1/. Did you mean')
  expect(await ask('/v1/chat/completion')).not.toContain('begin with')
  await plane.stop()
})
