import { describe, expect, it } from 'vitest'
import { readContentFiles } from '../../src/manifest/content-files.ts'
import { entriesOf, mistakesIn } from './entries.ts'

const hash = 'a'.repeat(64)
const other = 'b'.repeat(64)
const environments = (text: string, variables: Record<string, string> = {}) =>
  entriesOf(text, variables).map(({ environment }) => environment)

describe('a route of all environments', () => {
  it.each([
    ['true', null],
    ['"true"', null],
    [`\${ALL}`, null],
    ['false', 'production'],
    ['"false"', 'production'],
    ['~', 'production'],
  ])('is one where its file says %s: in %j', (said, environment) => {
    const text = `routes:\n  - model: m\n    provider: p\n    all_environments: ${said}`
    expect(environments(text, { ALL: 'true' })).toEqual([environment])
  })

  // YAML of today takes none of these for true; in production alone it would be unseen until another environment fails.
  it.each(['yes', 'on', '1', '[true]', 'everywhere'])('is refused where its file says %s', (said) => {
    expect(mistakesIn(`routes:\n  - model: m\n    provider: p\n    all_environments: ${said}`)).toEqual([
      'config.yaml:4:5: all_environments: expected true or false',
    ])
  })

  it('has no environment of its own, and nothing else has that field', () => {
    expect(mistakesIn('routes: [{ model: m, provider: p, environment: a, all_environments: true }]')).toEqual([
      'config.yaml:1:35: environment and all_environments cannot be used together',
    ])
    expect(environments('routes: [{ model: m, provider: p, environment: a, all_environments: false }]')).toEqual(['a'])
    expect(mistakesIn('keys: [{ name: ci, all_environments: true }]')[0]).toContain('unknown name all_environments')
  })
})

describe('what says the same twice', () => {
  it.each([
    ['providers: [{ name: p, kind: demo, credential: a, credentials: [b] }]', 'credential and credentials'],
    ['providers: [{ name: p, kind: demo, credentials: [b], credential: a }]', 'credential and credentials'],
    ['routes: [{ model: m, provider: p, targets: [q] }]', 'provider and targets'],
  ])('is refused: %s', (text, names) => {
    expect(mistakesIn(text)).toEqual([expect.stringContaining(`${names} cannot be used together`)])
  })

  it('is none where one of them has no value', () => {
    const [provider] = entriesOf('providers: [{ name: p, kind: demo, credential: ~, credentials: [a, b] }]')
    expect(provider?.credentials).toHaveLength(2)
    const [route] = entriesOf('routes: [{ model: m, provider: p, targets: ~ }]')
    expect(route?.fields.targets).toMatchObject([{ provider: 'p' }])
  })
})

describe('a route to one provider', () => {
  it.each([
    ['upstream_model: m', 'upstream_model needs provider', 15],
    ['provider: p, upstream_model: 20250101', 'upstream_model: expected a text, in quotes', 28],
    ['provider: [p]', 'provider: expected the name of a provider', 15],
  ])('with %s is refused at the field that is wrong', (fields, message, column) => {
    expect(mistakesIn(`routes: [{ model: m, ${fields} }]`)).toEqual([`config.yaml:1:${column + 7}: ${message}`])
  })

  it('falls back on statuses as YAML reads them', () => {
    const text = 'routes: [{ model: m, provider: p, fallback_on: [429, "500", provider_timeout, 429] }]'
    expect(entriesOf(text)[0]?.fields.fallback_on).toEqual(['429', '500', 'provider_timeout'])
    expect(entriesOf('routes: [{ model: m, provider: p, fallback_on: 503 }]')[0]?.fields.fallback_on).toEqual(['503'])
  })

  it('may have a model whose name is a number', () => {
    expect(entriesOf('routes: [{ model: 4, provider: p }]')[0]?.name).toBe('4')
  })
})

describe('the secrets of a key', () => {
  const secretsOf = (fields: string) => entriesOf(`keys: [{ name: ci, ${fields} }]`)[0]?.fields.secrets
  const mistakes = (fields: string) => mistakesIn(`keys: [{ name: ci, ${fields} }]`)

  it('are its own, and the one before with its end', () => {
    const before = `former: { sha256: ${other}, last_four: Wxyz, expires_at: 2027-01-31T00:00:00Z }`
    expect(secretsOf(`sha256: ${hash.toUpperCase()}, last_four: 0042, ${before}`)).toEqual([
      { sha256: hash, last_four: '0042', expires_at: null },
      { sha256: other, last_four: 'Wxyz', expires_at: '2027-01-31T00:00:00.000Z' },
    ])
  })

  it('are none where the file says nothing of them', () => {
    expect(secretsOf('policy: none')).toBeUndefined()
    expect(secretsOf('sha256: ~, last_four: ~, former: ~')).toBeUndefined()
  })

  it.each([
    [`last_four: abcd`, 'sha256: expected the SHA-256 of the key'],
    [`sha256: ${hash}`, 'last_four: expected the last four characters'],
    [`sha256: ${hash}, last_four: abcde`, 'last_four: expected the last four characters'],
    [`sha256: ${hash}, last_four: "a-b!"`, 'last_four: expected the last four characters'],
    [`sha256: ${hash.slice(1)}, last_four: abcd`, 'sha256: expected the SHA-256 of the key'],
    // A grace that is not read ends at once, for whoever still uses the former secret.
    [`sha256: ${hash}, last_four: abcd, former: ${other}`, 'former: expected sha256, last_four, expires_at below it'],
    [`sha256: ${hash}, last_four: abcd, former: [${other}]`, 'former: expected sha256, last_four, expires_at below it'],
    [
      `sha256: ${hash}, last_four: abcd, former: { sha256: ${other}, last_four: abcd }`,
      'expires_at: expected a time such as',
    ],
    [
      `sha256: ${hash}, last_four: abcd, former: { sha256: ${other}, last_four: abcd, expires: 2027-01-31 }`,
      'unknown name expires; did you mean expires_at?',
    ],
  ])('are refused with %s', (fields, message) => {
    expect(mistakes(fields).join('\n')).toContain(message)
  })
})

describe('the credentials of a provider', () => {
  const provider = (fields: string, variables: Record<string, string> = {}) =>
    entriesOf(`providers: [{ name: p, kind: demo, ${fields} }]`, variables)[0]

  it('are in the order of the file, without blanks around them', () => {
    const read = provider(`credentials: [" sk-b ", "\${A}"]`, { A: 'sk-a\n' })
    expect(read?.credentials?.map((secret) => secret.reveal())).toEqual(['sk-b', 'sk-a'])
  })

  it('are not known where one variable of several is unset or empty, which is named once', () => {
    const read = provider(`credentials: ["\${A}", "\${B}", "x\${B}", "\${C}"]`, { A: 'sk-a', C: '' })
    expect([read?.credentials, read?.missing]).toEqual([null, ['B', 'C']])
  })

  it.each(['credentials: []', 'credential: 5', 'credentials: [a, 5]', 'credential: { a: b }'])(
    'are refused with %s, without repeating them',
    (fields) => {
      expect(mistakesIn(`providers: [{ name: p, kind: demo, ${fields} }]`)).toEqual([
        expect.stringContaining('credentials: expected a text, preferably a variable, or a list of them'),
      ])
    },
  )

  it('are, with headers, the only fields whose variables may be unset', () => {
    const text = `providers:\n  - name: p\n    kind: demo\n    tags: { x: "\${UNSET}" }\n    headers: { y: "\${UNSET}" }\n    credential: \${UNSET}`
    expect(mistakesIn(text)).toEqual(['config.yaml:4:13: tags: the variable UNSET is not set; set it and apply again'])
  })
})

describe('files of content rules', () => {
  const rule = (name: string) => `rules: [{ name: ${name}, detector: secrets, action: block }]`

  it('are one set, whose names differ', () => {
    const read = readContentFiles({ 'a.yaml': rule('one'), 'b.json': '{"rules":[]}', 'c.yaml': rule('two') })
    expect('rules' in read && read.rules.map(({ name }) => name)).toEqual(['one', 'two'])
    expect(readContentFiles({ 'a.yaml': rule('one'), 'b.yaml': rule('one') })).toEqual({
      wrong: 'two rules are called one',
    })
    expect(readContentFiles({})).toEqual({ rules: [] })
  })

  it('say which of them is wrong, and where', () => {
    expect(readContentFiles({ 'a.yaml': rule('one'), 'b.yaml': 'a: [' })).toEqual({
      wrong: expect.stringMatching(/^b\.yaml: line 1:\d+: /),
    })
    expect(readContentFiles({ 'a.yaml': `# ${'x'.repeat(256 * 1024)}` })).toEqual({
      wrong: 'a.yaml: it is larger than 256 KiB',
    })
  })
})
