import { expect, it } from 'vitest'
import { startDataPlane } from '../support/data-plane.ts'

it("a fault of the gateway's own in a probe leaves the next request free to probe", async () => {
  // What the gateway cannot put a request together for: `spgw providers add` would refuse such a base URL.
  const plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: 'no URL' }] })
  plane.failLongAgo(0)
  expect(plane.health(0)).toMatchObject({ state: 'half-open' })
  const { status } = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}` },
    body: '{"model":"openai-model","messages":[]}',
  })
  expect(status).toBe(500)
  expect(plane.health(0)).toMatchObject({ state: 'half-open' })
  await plane.stop()
})
