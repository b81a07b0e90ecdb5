import { describe, expect, it } from 'vitest'
import { maskGatewayKeys, mintGatewayKey } from '../../src/core/gateway-key.ts'

const key = mintGatewayKey()
const escaped = (text: string) => text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)

describe('gateway keys in a text', () => {
  it.each([
    ['whole', key],
    ['cut short', key.slice(0, -20)],
    ['twice', `${key} ${key}`],
    ['with an escaped prefix', key.replace('_', '%5F')],
    ['all escaped', escaped(key)],
    ['escaped twice', escaped(key).replaceAll('%', '%25')],
  ])('are masked: %s', (_what, written) => {
    const masked = maskGatewayKeys(JSON.stringify({ model: `a ${written} b` }))
    expect(JSON.parse(masked)).toEqual({ model: expect.stringMatching(/^a sp_live_…( sp_live_…)? b$/) })
  })

  it.each(['a model', '', '100% of it', 'Keys start with sp_live_.', 'Send `sp_live_…`.', '/v1/models/a%20b'])(
    'are not seen in %j',
    (text) => expect(maskGatewayKeys(text)).toBe(text),
  )
})
