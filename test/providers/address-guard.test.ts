import { describe, expect, it } from 'vitest'
import { classifyAddress, evaluateHost } from '../../src/providers/address-guard.ts'
import { chooseProxy } from '../../src/providers/proxy-choice.ts'

const hostOf = (url: string) => new URL(url).hostname

describe('an address', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['169.253.255.255', 'public'],
    ['2606:4700::1111', 'public'],
    ['64:ff9b::808:808', 'public'],
    ['127.0.0.1', 'private'],
    ['10.0.3.7', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.10', 'private'],
    ['100.64.0.1', 'private'],
    ['::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:7f00:1', 'private'],
    ['64:ff9b::a00:1', 'private'],
    ['2002:a9fe:a9fe::1', 'forbidden'],
    ['2002:a9fe:a9fe::', 'forbidden'],
    ['2002:a9fe:a9fe:1:2:3:4:5', 'forbidden'],
    ['2002:7f00:1::', 'private'],
    ['2002::', 'forbidden'],
    ['2002:a00::1', 'private'],
    ['2002:808:808::', 'public'],
    ['64:ff9b:1::a9fe:a9fe', 'forbidden'],
    ['64:ff9b:1::169.254.169.254', 'forbidden'],
    ['64:ff9b:1:2:3:4:a9fe:a9fe', 'forbidden'],
    ['64:ff9b:1::a00:1', 'private'],
    ['64:ff9b:1::808:808', 'private'],
    ['::ffff:0:a9fe:a9fe', 'forbidden'],
    ['::ffff:0:169.254.169.254', 'forbidden'],
    ['::ffff:0:10.0.0.1', 'private'],
    ['::ffff:0:8.8.8.8', 'public'],
    ['::127.0.0.1', 'private'],
    ['::8.8.8.8', 'public'],
    ['2001::1', 'forbidden'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'forbidden'],
    ['2001:4860:4860::8888', 'public'],
    ['169.254.169.254', 'forbidden'],
    ['169.254.0.1', 'forbidden'],
    ['fe80::1', 'forbidden'],
    ['fe80::1%eth0', 'forbidden'],
    ['fd00:ec2::254', 'forbidden'],
    ['fd20:ce::254', 'forbidden'],
    ['::ffff:169.254.169.254', 'forbidden'],
    ['::a9fe:a9fe', 'forbidden'],
    ['64:ff9b::a9fe:a9fe', 'forbidden'],
    ['100.100.100.200', 'forbidden'],
    ['168.63.129.16', 'forbidden'],
    ['0.0.0.0', 'forbidden'],
    ['::', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    ['ff02::1', 'forbidden'],
  ])('%s is %s', (address, kind) => {
    expect(classifyAddress(address)).toBe(kind)
  })
})

describe('the host of a URL', () => {
  it.each([
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://169.16689662/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fd00:ec2::254]/',
    'http://metadata.google.internal/',
    'http://METADATA.google.internal./',
    'http://metadata/',
  ])('%s is never called, whatever is allowed', (url) => {
    expect(evaluateHost(hostOf(url), true).refused).toMatch(/never called/)
  })

  it.each([
    ['http://127.0.0.1:8000/v1', true],
    ['http://localhost:11434/v1', true],
    ['http://192.168.1.20/v1', true],
    ['http://ollama:11434/v1', true],
    ['http://vllm.models.svc.cluster.local/v1', true],
    ['http://gpu.corp.internal/v1', true],
    ['https://api.example.com/v1', false],
    ['https://llm.example.com/v1', false],
  ])('%s may lead to a private address: %s', (url, mayBePrivate) => {
    expect(evaluateHost(hostOf(url), false)).toEqual({ refused: null, mayBePrivate })
  })

  it('may lead to a private address once that is allowed', () => {
    expect(evaluateHost('llm.example.com', true)).toEqual({ refused: null, mayBePrivate: true })
  })
})

describe('the proxy of a call', () => {
  const proxies = { http: 'http://plain:1', https: 'http://tunnel:2', except: '' }
  const choose = (origin: string, except: string) => chooseProxy(origin, null, { ...proxies, except })?.url ?? null

  it('follows the scheme, and is nobody without one', () => {
    expect(choose('http://h.example', '')).toBe('http://plain:1')
    expect(choose('https://h.example', '')).toBe('http://tunnel:2')
    expect(chooseProxy('https://h.example', null, null)).toBeNull()
    expect(chooseProxy('http://h.example', null, { ...proxies, http: null })).toBeNull()
  })

  it.each([
    ['https://h.example', '*', true],
    ['https://h.example', 'h.example', true],
    ['https://deep.h.example', 'h.example', true],
    ['https://deep.h.example', '.h.example', true],
    ['https://deep.h.example', '*.h.example', true],
    ['https://oh.example', 'h.example', false],
    ['https://h.example', 'other, h.example', true],
    ['https://H.example', 'other H.EXAMPLE', true],
    ['https://h.example', 'h.example:443', true],
    ['https://h.example:8443', 'h.example:443', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://10.1.2.3', '10.0.0.0/8', true],
    ['https://11.1.2.3', '10.0.0.0/8', false],
    ['https://[2001:db8::1]', '2001:db8::/32', true],
    ['https://[2001:db8::1]', '2001:db8::1', true],
    ['https://h.example', '10.0.0.0/99,nonsense/x', false],
    ['http://localhost:11434', '', true],
    ['http://127.0.0.1:8000', '', true],
    ['http://[::1]:8000', '', true],
  ])('%s goes past it with NO_PROXY=%s: %s', (origin, except, past) => {
    expect(choose(origin, except) === null).toBe(past)
  })

  it("is the provider's own where it has one", () => {
    const egress = { key: '', proxy: 'http://own:3', authorities: null, identity: null, allowPrivate: false }
    expect(chooseProxy('https://h.example', egress, { ...proxies, except: '*' })).toEqual({
      url: 'http://own:3',
      trusted: false,
    })
    expect(chooseProxy('https://h.example', { ...egress, proxy: 'direct' }, proxies)).toBeNull()
  })
})
