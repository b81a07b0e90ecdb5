import { describe, expect, it } from 'vitest'
import { readProxies } from '../../src/config/proxies.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'

const read = (environment: Record<string, string>) => {
  const { http, https, except } = readProxies(environment)
  return [http?.reveal() ?? null, https?.reveal() ?? null, except]
}

describe("the environment's proxies", () => {
  it.each([
    [{}, [null, null, '']],
    [{ HTTPS_PROXY: '', NO_PROXY: '' }, [null, null, '']],
    [{ HTTPS_PROXY: 'http://a:3128', NO_PROXY: 'b,c' }, [null, 'http://a:3128', 'b,c']],
    [
      { HTTP_PROXY: 'a:3128', https_proxy: 'https://small:1', HTTPS_PROXY: 'http://large:2' },
      ['http://a:3128', 'https://small:1', ''],
    ],
    [{ no_proxy: 'small', NO_PROXY: 'large' }, [null, null, 'small']],
  ])('%j', (environment, wanted) => {
    expect(read(environment as Record<string, string>)).toEqual(wanted)
  })

  it.each(['socks5://a:1080', 'http://', 'http://user:secret@:99999'])('refuses %s, without showing it', (url) => {
    const reading = () => readProxies({ HTTPS_PROXY: url })
    expect(reading).toThrow(SettingsRefused)
    expect(reading).toThrow(/^HTTPS_PROXY: not a usable proxy; write it as http:(?!.*secret)/)
  })
})
