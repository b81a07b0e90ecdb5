import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let plane: DataPlane

beforeAll(async () => {
  plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1' }] })
})
afterAll(() => plane.stop())

describe("Claude Code's first question, which has no key", () => {
  const ask = (method: string, path: string) => fetch(`${plane.baseUrl}${path}`, { method })

  it.each([
    ['HEAD', '/v1/anthropic'],
    ['GET', '/v1/anthropic'],
    ['GET', '/v1'],
    ['HEAD', '/v1/gemini'],
  ])('%s is answered on %s and leaves no record', async (method, lane) => {
    const answer = await ask(method, `${lane}/api/hello`)
    expect([answer.status, await answer.text()]).toEqual([200, method === 'HEAD' ? '' : '{"status":"ok"}\n'])
    expect(answer.headers.get('x-sp-request-id')).toBeNull()
    expect(plane.records()).toEqual([])
  })

  it('opens no other path or method', async () => {
    for (const [method, path] of [
      ['POST', '/v1/anthropic/api/hello'],
      ['GET', '/v1/anthropic/api/other'],
      ['GET', '/v1/api/hello/more'],
    ] as const)
      expect((await ask(method, path)).status).toBe(401)
  })
})
