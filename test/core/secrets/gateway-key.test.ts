import { describe, expect, it } from 'vitest'
import { fault } from '../../../src/core/errors.ts'
import { holdsGatewayKey, maskGatewayKeys, mintGatewayKey } from '../../../src/core/secrets/gateway-key.ts'

const key = mintGatewayKey()
const base64 = (text: string) => Buffer.from(text).toString('base64')
const escaped = (text: string) => text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)

describe('gateway keys in a text', () => {
  it.each([
    ['whole', key],
    ['cut short', key.slice(0, -20)],
    ['twice', `${key} ${key}`],
    ['with an escaped prefix', key.replace('_', '%5F')],
    ['all escaped', escaped(key)],
    ['escaped twice', escaped(key).replaceAll('%', '%25')],
    ['in base64', base64(key)],
    ['in base64, with as many bytes behind it', base64(`${key}1`)],
    ['in base64 of URLs, cut short', Buffer.from(key).toString('base64url').slice(0, 30)],
    ['in hexadecimal digits', Buffer.from(key).toString('hex')],
    ['in large hexadecimal digits', Buffer.from(key).toString('hex').toUpperCase()],
  ])('are masked: %s', (_what, written) => {
    const masked = maskGatewayKeys(JSON.stringify({ model: `a ${written} b` }))
    expect(JSON.parse(masked)).toEqual({ model: expect.stringMatching(/^a sp_live_…( sp_live_…)? b$/) })
  })

  it.each(['user:', 'a:', '::', ':'])('are masked in base64 behind %j', (before) => {
    const masked = maskGatewayKeys(base64(before + key))
    expect([masked.endsWith('sp_live_…'), holdsGatewayKey(masked)]).toEqual([true, false])
  })

  it.each(['a model', '', '100% of it', 'Keys start with sp_live_.', 'Send `sp_live_…`.', '/v1/models/a%20b'])(
    'are not seen in %j',
    (text) => expect(maskGatewayKeys(text)).toBe(text),
  )
})

describe('a gateway key on its way to a provider', () => {
  it.each([
    ['as it is', `Bearer ${key}`],
    ['in base64', base64(key)],
    ['in base64, behind one letter', base64(`:${key}`)],
    ['in base64, behind two letters', base64(`a:${key}`)],
    ['in the alphabet of URLs, escaped', encodeURIComponent(Buffer.from(`user:${key}`).toString('base64url'))],
    ['in hexadecimal digits', Buffer.from(key).toString('hex').toUpperCase()],
    ['escaped twice', escaped(key).replaceAll('%', '%25')],
  ])('is seen %s', (_how, written) => expect(holdsGatewayKey(written)).toBe(true))

  it.each([base64('a long enough value without any key in it, such as a cookie'), 'c3Bf', 'sp_live_short'])(
    'is not seen in %j',
    (text) => expect(holdsGatewayKey(text)).toBe(false),
  )
})

it('a fault never says the key that its client named by mistake', () => {
  const { message } = fault('model_not_found', `There is no model "${key}" for this key.`)
  expect(message).toBe('There is no model "sp_live_…" for this key.')
})
