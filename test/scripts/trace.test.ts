import { beforeAll, describe, expect, it } from 'vitest'
import { type Trace, traceRequest } from '../../scripts/trace/trace.ts'

/** Upper bounds, to be lowered whenever the path gets shorter. */
const mostFiles = 45
const mostJumps = 120

/** Parts of the gateway that other requests than a plain chat are for. */
const variants = /upload|object|socket|webrtc|client-secret|client-token|wide-source/

describe('a plain chat', () => {
  let trace: Trace
  beforeAll(async () => {
    trace = await traceRequest()
  })

  it('is seen from the server to the journal', () => {
    const seen = trace.calls.map(({ file, name }) => `${file} ${name}`)
    const last = (part: string) => seen.findLastIndex((call) => call.startsWith(part))
    expect(seen[0]).toMatch('src/gateway/server.ts')
    expect(last('src/providers/http.ts')).toBeGreaterThan(0)
    expect(last('src/gateway/journal/journal.ts append')).toBeGreaterThan(last('src/providers/http.ts'))
  })

  it('enters few files, and jumps between them seldom', () => {
    expect(trace.files.length).toBeLessThanOrEqual(mostFiles)
    expect(trace.jumps).toBeLessThanOrEqual(mostJumps)
  })

  it('enters no file that uploads, objects, sockets or client tokens are for', () => {
    expect(trace.files.filter((file) => variants.test(file))).toEqual([])
  })
})
