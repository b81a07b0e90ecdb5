import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAttachment, resolveAttachments, targetProviders } from '../../src/manifest/attachments.ts'
import type { Problem } from '../../src/manifest/resource.ts'
import { entriesOf, resource } from './entries.ts'

const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/)
const key = (project: string, environment: string, name: string) =>
  resource({ kind: 'key', project, environment, name }, {})

describe('what a policy is attached to', () => {
  it.each([
    ['workspace', null],
    ['project:a', { kind: 'project', project: null, environment: null, name: 'a' }],
    ['environment:a/b', { kind: 'environment', project: 'a', environment: null, name: 'b' }],
    ['key:a/b/c', { kind: 'key', project: 'a', environment: 'b', name: 'c' }],
  ])('is read of %j', (word, identity) => {
    expect(readAttachment(word)).toEqual(identity)
  })

  // What was read as another word would never be found equal to what the gateway has, and be changed for ever.
  it.each([
    ...['', 'Workspace', 'workspace:', 'project', 'project:', 'project:/', 'project:a/', 'project:a//', 'project:/a'],
    ...['project:a/b', 'environment:a', 'environment:a/', 'environment:a/b/', 'environment:a//b', 'environment:/a/b'],
    ...[
      'key:a',
      'key:a/b',
      'key:a/b/',
      'key:a//b',
      'key:/a/b',
      'key:a/b/c/',
      'key:a/b/c/d',
      'route:a/b/c',
      'a:project:b',
    ],
  ])('is nothing of %j', (word) => {
    expect(readAttachment(word)).toBeUndefined()
  })

  it('is one word for each place, and one place for each word', () => {
    fc.assert(
      fc.property(name, name, name, (one, two, three) => {
        for (const word of [`project:${one}`, `environment:${one}/${two}`, `key:${one}/${two}/${three}`]) {
          const found = readAttachment(word)
          if (found === undefined || found === null) throw new Error(`${word} was not read`)
          const parts = [found.project, found.environment, found.name].filter((part) => part !== null)
          expect(`${found.kind}:${parts.join('/')}`).toBe(word)
        }
      }),
    )
  })
})

describe('a key that a policy names without its place', () => {
  const policy = (attach: string, more = '') => entriesOf(`policies: [{ name: small, attach: ${attach} }]\n${more}`)
  const attached = (attach: string, keys: ReturnType<typeof key>[], more = '') => {
    const problems: Problem[] = []
    const [first] = resolveAttachments(policy(attach, more), keys, problems)
    return { attach: first?.fields.attach, problems: problems.map(({ message }) => message) }
  }

  it('is the one of that name, which the file itself may make', () => {
    expect(attached('key:ci', [key('a', 'b', 'ci'), key('a', 'b', 'web')])).toEqual({
      attach: ['key:a/b/ci'],
      problems: [],
    })
    expect(attached('key:ci', [], 'keys: [{ name: ci, project: search }]')).toEqual({
      attach: ['key:search/production/ci'],
      problems: [],
    })
  })

  it('is one key also where the gateway has it already, and attached once however often it is named', () => {
    const known = [key('default', 'production', 'ci')]
    const words = '[key:ci, key:default/production/ci, workspace, key:ci]'
    expect(attached(words, known, 'keys: [{ name: ci }]')).toEqual({
      attach: ['key:default/production/ci', 'workspace'],
      problems: [],
    })
  })

  it('is refused where there is none, or more than one', () => {
    expect(attached('key:ci', []).problems).toEqual(['attach: there is no key ci'])
    expect(attached('key:ci', [key('a', 'b', 'ci'), key('a', 'c', 'ci')]).problems).toEqual([
      'attach: several environments have a key ci; write key:PROJECT/ENVIRONMENT/ci',
    ])
  })

  it('leaves all else as it is, and does not change what was read', () => {
    const entries = policy('[project:a, environment:a/b]', 'providers: [{ name: p, kind: demo }]')
    const before = JSON.stringify(entries)
    const problems: Problem[] = []
    const after = resolveAttachments(entries, [], problems)
    expect([after.map(({ kind }) => kind), problems, JSON.stringify(entries)]).toEqual([
      entries.map(({ kind }) => kind),
      [],
      before,
    ])
  })
})

it.each([
  [null, []],
  ['openai', []],
  [
    [{ provider: 'a' }, { provider: 7 }, 'b', null, { provider: 'a' }],
    ['a', 'a'],
  ],
])('the providers of the targets %j are %j', (targets, providers) => {
  expect(targetProviders(targets)).toEqual(providers)
})
