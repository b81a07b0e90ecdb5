import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { askedFields, currentText, helpOf, isSwitch, labelOf, readText } from '../../tui/form-fields.ts'
import { type Driven, drive, provider } from './drive.ts'

let driven: Driven
afterEach(() => driven?.stop())

const inputOf = (path: string) => driven.calls.findLast((call) => call.path === path)?.input

describe('a field', () => {
  const field = (operation: string, name: string) => {
    const found = catalog.find((known) => known.name === operation)?.fields.find((known) => known.name === name)
    if (found === undefined) throw new Error(`${operation} has no ${name}.`)
    return found
  }

  it.each([
    ['providers.edit', 'headers', 'x-team=search', { 'x-team': 'search' }],
    ['routes.edit', 'targets', 'openai azure:gpt4o-eu,weight=2', ['openai', 'azure:gpt4o-eu,weight=2']],
    ['routes.edit', 'fallbackOn', '429, 5xx', ['429', '5xx']],
    ['routes.edit', 'retries', '2', 2],
    ['policies.edit', 'maxBody', '1MB', '1MB'],
    ['keys.revoke', 'closeStreams', 'true', true],
  ])('%s %s reads %s', (operation, name, text, value) => {
    expect(readText(field(operation, name), text, '')).toEqual(value)
  })

  it('of several texts gives back those that it shows, whatever is in them', () => {
    const item = fc.string({
      minLength: 1,
      maxLength: 8,
      unit: fc.constantFrom('a', ',', '"', ' ', '=', '\\', '{', '漢'),
    })
    const patterns = field('policies.edit', 'denyPatterns')
    const headers = field('providers.edit', 'headers')
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), (items) => {
        fc.pre(items.every((one) => one.trim() !== ''))
        const shown = currentText(patterns, { deny_patterns: items })
        expect(readText(patterns, shown, '')).toEqual(items)
        const pairs = Object.fromEntries(items.map((value, place) => [`x-${place}`, value]))
        expect(readText(headers, currentText(headers, { headers: pairs }), '')).toEqual(pairs)
      }),
    )
  })

  it('of several texts changes one of them, and leaves those with commas whole', async () => {
    const headers = { accept: 'text/html, application/json', 'x-team': 'search' }
    driven = drive({ 'providers.list': [{ ...provider, headers }], 'providers.edit': provider })
    await driven.press('2')
    await driven.see('openai')
    await driven.press('e')
    await driven.see('"accept=text/html, application/json", x-team=search')
    while (!/▸ Headers/.test(driven.text())) await driven.press('down')
    await driven.press('=2', 'ctrl-s')
    await driven.see('Changed provider openai')
    expect(inputOf('providers.edit')).toEqual({
      name: provider.id,
      headers: { accept: 'text/html, application/json', 'x-team': 'search2' },
    })
  })

  it.each([
    ['a, b ,, c', ['a', 'b', 'c']],
    ['"a,b", c', ['a,b', 'c']],
    ['"say ""yes""",b', ['say "yes"', 'b']],
    ['"a, b', ['"a', 'b']],
    ['a "b" c, d', ['a "b" c', 'd']],
    ['"a" b, c', ['"a" b', 'c']],
  ])('of several texts reads %s', (text, items) => {
    expect(readText(field('policies.edit', 'denyPatterns'), text, '')).toEqual(items)
  })

  it('is asked for in the order of the contract: first what must be given, last what is only switched on', () => {
    const asked = (name: string, given: object = {}, hidden: string[] = []) => {
      const operation = catalog.find((known) => known.name === name)
      return operation === undefined ? [] : askedFields(operation, given, hidden)
    }
    const kinds = asked('providers.add').map((one) => (one.required ? 0 : isSwitch(one) ? 2 : 1))
    expect(kinds).toEqual(kinds.toSorted())
    expect(new Set(kinds).size).toBe(3)
    const names = asked('providers.add', { kind: 'openai' }, ['preset']).map(({ name }) => name)
    expect(names).toContain('name')
    for (const left of ['kind', 'preset']) expect(names).not.toContain(left)
    expect(asked('diff').map(({ syntax }) => syntax)).not.toContain('variables')
  })

  it('is called by its label, or by its flag in words, and says what it is for', () => {
    const plain = { ...field('providers.add', 'baseUrl'), flag: 'base-url', description: 'Where it is' }
    expect([labelOf({ ...plain, label: undefined }), labelOf({ ...plain, label: 'Address' })]).toEqual([
      'Base URL',
      'Address',
    ])
    expect([helpOf({ ...plain, help: undefined }), helpOf({ ...plain, help: 'Here' })]).toEqual(['Where it is', 'Here'])
  })

  it('that holds a secret starts empty, as do all of a thing that is not there yet', () => {
    const secret = field('providers.add', 'credential')
    expect([secret.secret, currentText(secret, { credential: 'sk-canary' })]).toEqual([true, ''])
    expect(currentText(field('providers.add', 'name'), undefined)).toBe('')
  })

  it('that is emptied is taken off, in the words of the contract', () => {
    expect(readText(field('policies.edit', 'denyPatterns'), ' ', 'a')).toEqual([])
    expect(readText(field('providers.edit', 'name'), ' mine ', '')).toBe('mine')
    expect(readText(field('providers.edit', 'headers'), '', 'x-team=search')).toEqual({ 'x-team': '' })
    expect(readText(field('providers.edit', 'headers'), '', 'x-sum=a=b')).toEqual({ 'x-sum': '' })
    expect(readText(field('providers.edit', 'organization'), '', 'org-1')).toBeNull()
    expect(readText(field('keys.edit', 'policy'), '', 'small')).toBe('none')
    expect(readText(field('keys.edit', 'expires'), '', '2027-01-01T00:00:00Z')).toBe('never')
    expect(readText(field('providers.edit', 'baseUrl'), '', '')).toBeUndefined()
  })

  it('starts from what the thing is', () => {
    const route = {
      targets: [
        { provider: 'openai', upstream_model: null, weight: 1 },
        { provider: 'azure', upstream_model: 'eu', weight: 2 },
      ],
      strict: true,
    }
    expect(currentText(field('routes.edit', 'targets'), route)).toBe('openai azure:eu,weight=2')
    expect(currentText(field('routes.edit', 'strict'), route)).toBe('true')
    expect(currentText(field('policies.edit', 'maxBody'), { max_body_bytes: 1000 })).toBe('1KB')
    expect(currentText(field('keys.edit', 'policy'), { policy: null })).toBe('')
  })

  it('starts from all that a route and a policy have, so that what is not touched stays', () => {
    const target = { provider: 'demo', upstream_model: null, weight: 1, priority: 0, format: null }
    const route = {
      targets: [target, { ...target, provider: 'azure', priority: 0, format: 'messages' }],
      timeouts: { total_ms: 20_000 },
      hedge: { after: '200ms', share: 7 },
      reasoning_text: false,
      cache_ms: 300_000,
    }
    const names = ['targets', 'timeoutTotal', 'hedgeAfter', 'hedgeShare', 'reasoningText', 'cache']
    expect(names.map((name) => currentText(field('routes.edit', name), route))).toEqual([
      'demo azure,priority=0,format=messages',
      ...['20s', '200ms', '7', 'off', '5m'],
    ])
    const policy = { attached_to: ['project:search'], content_rules: [{ name: 'keys', detector: 'secrets' }] }
    expect(currentText(field('policies.edit', 'attach'), policy)).toBe('project:search')
    // Rules are files here; what a policy has is no file.
    expect(currentText(field('policies.edit', 'contentRules'), policy)).toBe('')
  })
})
