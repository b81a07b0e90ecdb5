import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { longestSlug } from '../../src/import/converted.ts'
import { ProviderPool } from '../../src/import/pool.ts'
import { countOf, mergeAnchors, readValue, Source, settingIn, timeoutOf } from '../../src/import/source.ts'

function sourceOf(tree: object = {}): Source {
  return new Source(parseSettingsFile(JSON.stringify(tree), 'config.yaml'))
}

const wanted = fc.oneof(
  fc.constantFrom('openai', 'openai-2', 'OpenAI', 'x'.repeat(200), 'https://llm.corp.example/v1', '', '🙂', 'ü'),
  fc.string({ maxLength: 80 }),
)

describe('names of providers', () => {
  it('are good, different for what differs, and the same for what is the same', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(wanted, fc.nat(6)), { maxLength: 40 }), (asked) => {
        const pool = new ProviderPool()
        const names = asked.map(([name, number]) => pool.add(name, { kind: 'openai', credential: `\${KEY_${number}}` }))
        const byContent = new Map(asked.map(([, number], at) => [number, names[at]]))
        expect(names).toEqual(asked.map(([, number]) => byContent.get(number)))
        expect(new Set(byContent.values()).size).toBe(byContent.size)
        for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9._-]*$/)
        for (const name of names) expect(name.length).toBeLessThanOrEqual(longestSlug)
      }),
      { numRuns: 60 },
    )
  })

  it('are not lost to a number that is a name of its own', () => {
    const pool = new ProviderPool()
    const add = (name: string, key: number) => pool.add(name, { kind: 'openai', credential: `\${KEY_${key}}` })
    expect([add('a', 1), add('a-2', 2), add('a', 3), add('a-2', 4), add('a', 1)]).toEqual([
      ...['a', 'a-2', 'a-3', 'a-2-2', 'a'],
    ])
  })

  it('a base URL that is none becomes a variable, and is reported', () => {
    const [pool, source] = [new ProviderPool(), sourceOf()]
    const urls = ['not a url', 'ftp://llm.example', '${' + 'HOST}/v1', 'https://llm.example/v1']
    for (const [at, base_url] of urls.entries())
      pool.add(`p${at}`, { kind: 'openai-compatible', base_url, credential: '${' + 'KEY}' })
    const found = pool.usable(source).map(({ base_url }) => base_url)
    expect(found).toEqual(['${' + 'P0_BASE_URL}', '${' + 'P1_BASE_URL}', urls[2], urls[3]])
    expect(source.left.map(({ what }) => what)).toEqual(['the base URL of p0', 'the base URL of p1'])
  })
})

describe('variables of credentials', () => {
  it('are never shared by two credentials, nor with one that the file uses already', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('KEY', 'KEY_2', 'OTHER'), fc.nat(4)), { maxLength: 30 }),
        fc.subarray(['KEY', 'KEY_2', 'KEY_3', 'OTHER']),
        (asked, used) => {
          const source = sourceOf({ keys: used.map((name) => `os.environ/${name}`) })
          const variables = asked.map(([name, secret]) => source.variableFor(name, `secret ${secret}`))
          const byCredential = new Map(asked.map((credential, at) => [credential.join(), variables[at]]))
          expect(variables).toEqual(asked.map((credential) => byCredential.get(credential.join())))
          expect(new Set(byCredential.values()).size).toBe(byCredential.size)
          for (const variable of variables) expect(used).not.toContain(variable)
          expect(JSON.stringify(source.left)).not.toContain('secret')
        },
      ),
      { numRuns: 60 },
    )
  })

  it.each([
    ['os.environ/OPENAI_KEY', '${' + 'OPENAI_KEY}'],
    ['os.environ/A-B', 'os.environ/A-B'],
    ['os.environ/', 'os.environ/'],
    [' os.environ/KEY', ' os.environ/KEY'],
    ['OPENAI_KEY', 'OPENAI_KEY'],
  ])('%j reads as %j', (text, read) => {
    expect(readValue(text)).toBe(read)
  })
})

describe('numbers of the other program', () => {
  it.each([
    [30, 30_000],
    ['30', 30_000],
    [0.5, 500],
    ['1e1', 10_000],
    [0.0004, null],
    [0, null],
    [-3, null],
    [1e12, null],
    ['os.environ/TIMEOUT', null],
    [true, null],
    [[], null],
  ])('the time limit %j is %j milliseconds, or is reported', (value, milliseconds) => {
    const source = sourceOf({ timeout: value })
    expect(timeoutOf({ value, path: ['timeout'] }, 1000, source)).toBe(milliseconds)
    expect(source.left).toHaveLength(milliseconds === null ? 1 : 0)
    expect(JSON.stringify(source.left)).not.toContain('os.environ')
  })

  it.each([[undefined], [null], ['']])('%j is none, and no matter', (value) => {
    const source = sourceOf()
    expect(countOf({ value, path: ['rpm'] }, source)).toBeNull()
    expect(source.left).toEqual([])
  })

  it.each([' ', 'NaN', 'Infinity', '1,000', {}, Number.NaN])('%j is none, and reported', (value) => {
    const source = sourceOf({ rpm: value })
    expect(countOf({ value, path: ['rpm'] }, source)).toBeNull()
    expect(source.left).toMatchObject([{ what: 'rpm', reason: 'it is not a number in the file' }])
  })
})

describe('what is left out', () => {
  it('is reported once for each place, or once for all that are alike', () => {
    const source = sourceOf({ a: { b: 1 } })
    for (let time = 0; time < 3; time++) source.skip(['a', 'b'], 'b', 'why', 'what to do')
    source.skip(['a', 'b'], 'another', 'why', 'what to do')
    for (const path of [['a'], ['a', 'b']]) source.skipOnce(path, 'shared', 'why', 'what to do')
    expect(source.left.map(({ what }) => what)).toEqual(['b', 'another', 'shared'])
  })
})

describe('a tree with anchors', () => {
  it('has what they name where nothing of its own stands, of several the first', () => {
    const tree = {
      '<<': [{ a: 'first', b: { '<<': { x: 1 }, y: 2 } }, { a: 'second', c: 'second' }, 'nonsense'],
      c: 'own',
      list: [{ '<<': { deep: true } }, 'text'],
    }
    expect(mergeAnchors(tree)).toEqual({ a: 'first', b: { x: 1, y: 2 }, c: 'own', list: [{ deep: true }, 'text'] })
    expect(mergeAnchors({ '<<': { '<<': { a: 1, b: 1 }, b: 2 } })).toEqual({ a: 1, b: 2 })
  })

  it('is asked for the first of several names that it has', () => {
    const tree = { timeout: null, request_timeout: 3 }
    expect(settingIn(tree, ['x'], 'missing', 'timeout', 'request_timeout')).toEqual({
      value: null,
      path: ['x', 'timeout'],
    })
    expect(settingIn(tree, [], 'missing', 'other')).toEqual({ value: undefined, path: ['missing'] })
  })
})
