import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { laneNames } from '../../src/core/lane.ts'
import { Secret } from '../../src/core/secrets/secret.ts'
import type { Meaning, ProviderKind, ProviderSettings, ProviderTarget } from '../../src/providers/contract.ts'
import { credentialNeed, defaultBaseUrl, findKind, indexKinds, providerKinds } from '../../src/providers/index.ts'
import { presets } from '../../src/providers/presets.ts'
import { readErrorBody } from '../../src/providers/wire/status.ts'

/** One recorded answer: a new case is a new file, no code. `scrubbed` is left out where the body must keep its bytes. */
interface RecordedCase {
  lane: LaneName
  status: number
  headers: Record<string, string>
  body: unknown
  meaning: Meaning
  settings?: ProviderSettings
  scrubbed?: unknown
}

const fixtures = new URL('../fixtures/providers/', import.meta.url)

function readCases(kind: string): [string, RecordedCase][] {
  const folder = new URL(`${kind}/`, fixtures)
  return readdirSync(folder).map((file) => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8'))])
}

function encode(body: unknown): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Every setting that a kind cannot do without has a value here. */
const needed: Record<string, string> = { region: 'eu-central-1', location: 'europe-west4' }

function target(kind: ProviderKind, more: Partial<ProviderTarget> = {}): ProviderTarget {
  const required = Object.entries(kind.settings).filter(([, setting]) => setting.required)
  const settings = Object.fromEntries(required.map(([name]) => [name, needed[name] ?? '']))
  return { name: 'one', baseUrl: defaultBaseUrl(kind, settings) || 'http://127.0.0.1:9/v1', settings, ...more }
}

describe.each(providerKinds.map((kind) => [kind.kind, kind] as const))('provider kind %s', (name, kind) => {
  it.each(readCases(name))('reads %s', (_file, recorded) => {
    const body = encode(recorded.body)
    const head = { status: recorded.status, headers: new Map(Object.entries(recorded.headers)) }
    expect(kind.classify(head, readErrorBody(body), recorded.settings ?? {})).toEqual(recorded.meaning)
    const scrubbed = kind.scrub(body)
    if (recorded.scrubbed === undefined) expect(scrubbed).toBe(body)
    else expect(scrubbed.toString()).toBe(encode(recorded.scrubbed).toString())
  })

  it('has a recorded case of each class, where it asks anybody', () => {
    const cases = readCases(name).map(([, recorded]) => recorded)
    if (kind.check === null) return expect(kind.transport).not.toBeNull()
    const verdicts = new Set(cases.map(({ meaning }) => meaning.verdict))
    for (const verdict of ['answer', 'credential-rejected', 'credential-doubtful', 'retry', 'caller'] as const)
      expect(verdicts, verdict).toContain(verdict)
    const tooLong = cases.filter(({ body }) => /too long|context length|token count/.test(JSON.stringify(body)))
    expect(tooLong.map(({ meaning }) => meaning.verdict)).toContain('caller')
    expect(cases.some(({ scrubbed }) => scrubbed !== undefined)).toBe(true)
  })

  it('bears any bytes as a body', () => {
    for (const body of [
      Buffer.alloc(0),
      Buffer.from([0xff, 0x00, 0x7b]),
      Buffer.from('[[]]'),
      Buffer.from('{"error":7}'),
    ]) {
      expect(kind.classify({ status: 418, headers: new Map() }, readErrorBody(body), {})).toEqual({ verdict: 'caller' })
      expect(kind.scrub(body)).toBe(body)
    }
  })

  it('speaks a lane, and addresses it below its base URL', () => {
    expect(kind.lanes.length).toBeGreaterThan(0)
    for (const lane of kind.lanes) expect(laneNames).toContain(lane)
    const address = kind.address(target(kind), kind.lanes[0] ?? 'openai', '/x/y?z=1')
    expect(address.path.endsWith('/x/y?z=1')).toBe(true)
    expect(address.origin).not.toMatch(/\/$/)
  })

  it('sends the credential in one header, and none where there is none', () => {
    const credential = new Secret('key-under-test')
    const holding = kind
      .headers(target(kind), 'openai', credential)
      .filter(([, value]) => value.includes('key-under-test'))
    expect(holding).toHaveLength(kind.credential === 'none' || kind.apiKey === false ? 0 : 1)
    expect(kind.headers(target(kind), 'openai', null)).toEqual([])
    for (const [header] of holding) expect(header).toBe(header.toLowerCase())
  })
})

describe('the list of kinds', () => {
  it('finds by name, and refuses a name that stands twice', () => {
    expect(findKind('openai')?.title).toBe('OpenAI')
    expect(findKind('toString')).toBeNull()
    const [first] = providerKinds
    expect(() => indexKinds(first ? [first, first] : [])).toThrow('Two provider kinds are named openai.')
  })

  it('places calls as contract.md rule 1 says', () => {
    const at = (name: string, path: string, baseUrl?: string) => {
      const kind = findKind(name)
      if (!kind) throw new Error(name)
      const { origin, path: full } = kind.address(
        target(kind, baseUrl === undefined ? {} : { baseUrl }),
        kind.lanes[0] ?? 'openai',
        path,
      )
      return origin + full
    }
    expect(at('openai', '/chat/completions')).toBe('https://api.openai.com/v1/chat/completions')
    expect(at('anthropic', '/v1/messages?beta=true')).toBe('https://api.anthropic.com/v1/messages?beta=true')
    expect(at('gemini', '/v1beta/models/m:generateContent')).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent',
    )
    expect(at('openai-compatible', '/models?a=1', 'https://h.example:8443/deep/v1/?region=eu')).toBe(
      'https://h.example:8443/deep/v1/models?region=eu&a=1',
    )
  })

  it('tells OpenAI which organisation and project pay', () => {
    const settings = { organization: 'org-1', project: 'proj_1' }
    const headers = findKind('openai')?.headers({ name: 'one', baseUrl: '', settings }, 'openai', null)
    expect(headers).toEqual([
      ['openai-organization', 'org-1'],
      ['openai-project', 'proj_1'],
    ])
  })

  it('fills in a version for Anthropic only as a default', () => {
    expect(findKind('anthropic')?.defaults).toEqual([['anthropic-version', '2023-06-01']])
  })
})

describe('presets', () => {
  const kind = findKind('openai-compatible')

  it.each(presets.map((preset) => [preset.name, preset] as const))('%s is a whole row', (name, preset) => {
    expect(name).toMatch(/^[a-z0-9][a-z0-9-]*$/)
    expect(presets.filter((other) => other.name === name)).toHaveLength(1)
    expect(kind?.settings.preset?.choices).toContain(name)
    if (!kind) throw new Error('no kind')
    expect(defaultBaseUrl(kind, { preset: name })).toBe(preset.baseUrl)
    expect(credentialNeed(kind, { preset: name })).toBe(preset.credential)
    const url = new URL(preset.baseUrl)
    expect(url.protocol).toBe(preset.credential === 'optional' ? 'http:' : 'https:')
    expect(kind.address({ name: 'one', baseUrl: '', settings: { preset: name } }, 'openai', '/models').origin).toBe(
      url.origin,
    )
  })

  it('says what a vendor lacks', () => {
    expect(kind?.unsupported({ name: 'one', baseUrl: '', settings: { preset: 'mistral' } })).toEqual(['stream_options'])
    expect(kind?.unsupported({ name: 'one', baseUrl: '', settings: {} })).toEqual([])
  })
})
