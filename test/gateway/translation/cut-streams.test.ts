import { describe, expect, it } from 'vitest'
import { type FormatName, formatNames } from '../../../src/core/format.ts'
import { flow, streamOf } from '../../support/translate/flow.ts'
import { checkStream } from '../../support/translate/grammar.ts'

/** Of the bytes of each stream, every so manieth is a place to cut it; `SPGW_TRANSLATE_RUNS` is set: each. */
const step = process.env.SPGW_TRANSLATE_RUNS === undefined ? 31 : 1

const pairs = formatNames.flatMap((provider) => formatNames.map((client) => ({ provider, client })))

describe.each(pairs)('a stream of $provider for a client of $client', ({ provider, client }) => {
  const bytes = streamOf(provider)
  const whole = flow(provider, client, [bytes])

  it('is valid, and has what was said', () => {
    expect(whole.error).toBeNull()
    expect(checkStream(client, whole.written)).toEqual([])
    for (const name of ['weather', 'time']) expect(whole.written).toContain(`"${name}"`)
  })

  it('is the same however it is cut into chunks', () => {
    for (let at = 1; at < bytes.length; at += step)
      expect(flow(provider, client, [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole)
    expect(
      flow(
        provider,
        client,
        [...bytes].map((byte) => Buffer.from([byte])),
      ),
    ).toEqual(whole)
  })

  it('Portkey 1797: is valid where the provider breaks off at any byte, and never looks like a whole one', () => {
    for (let at = 1; at < bytes.length; at += step) {
      const { written, begun, error } = flow(provider, client, [bytes.subarray(0, at)])
      if (!begun) continue
      expect(checkStream(client, written), `cut at ${at}`).toEqual([])
      expect(error !== null || written === whole.written || isEnd(provider, bytes, at), `cut at ${at}`).toBe(true)
    }
  })
})

/** The provider has said how it ends: what is missing closes the stream, or counts what was used. */
function isEnd(provider: FormatName, bytes: Buffer, at: number): boolean {
  const [came, left] = [bytes.subarray(0, at).toString(), bytes.subarray(at).toString()]
  if (provider === 'chat') return came.includes('"finish_reason":"tool_calls"}]}')
  return provider === 'generate' ? came.includes('"finishReason"') && !left.includes('}\r') : !left.includes('event:')
}
