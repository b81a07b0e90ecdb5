import { describe, expect, it } from 'vitest'
import { type Module, parseModule, readModules } from './checks/modules.ts'
import { type BannedWord, findInNames, findInTexts, readWording } from './checks/words.ts'

/** A word that the code shall not use, and how often it still stands: that may only become less. */
interface Ban extends BannedWord {
  standing: number
}

const ban = (words: string, instead: string, standing = 0): Ban => ({ words: words.split(' | '), instead, standing })

const bannedNames: Ban[] = [
  ban('sick | sickness', 'unhealthy, degraded'),
  ban('mend | mends | mended', 'fix, repair'),
  ban('gone', 'disconnected, aborted'),
  ban('dying', 'crashing'),
  ban('last words', 'crash shutdown'),
  ban('fleet', 'worker pool'),
  ban('lead back | leads back', 'rewrite URLs'),
  ban('splice', 'patch'),
  ban('patience | after running', 'stall-aware timeout'),
  ban('stranger | strangers', 'unauthenticated client'),
  ban('further', 'additional'),
  ban('lacks', 'unsupported'),
  ban('speaks', 'formats'),
  ban('rests | resting', 'cooldown'),
  ban('way out', 'egress'),
  // The name of a migration, which databases hold.
  ban('late', 'lazy, deferred, background', 1),
  ban('tell | tells | told', 'notify, created'),
  ban('lend | lends | lent', 'lease'),
  ban('weapon | shelf', 'kill hook'),
  ban('buy | buys | bought | sell | sells | sold | sale', 'fetch, issue'),
  ban('desk', 'lookup'),
  ban('finding | findings', 'diagnostic'),
  ban('examine | examines', 'check'),
  ban('judge | judges', 'classify, evaluate, validate'),
  ban('heartbeat | heartbeats', 'keep-alive', 0),
  ban('door | doors', 'listener'),
  ban('visit | visits | premises', 'request guard'),
  ban('goodbye', 'close codes'),
  ban('pulse', 'ping'),
  ban('wish | wishes', 'run'),
  ban('give back', 'trim, release'),
]

const bannedTexts: Ban[] = [
  ban('sick | sickness', 'unhealthy, degraded'),
  ban('mend | mends | mended', 'fix'),
  ban('stranger | strangers', 'unauthenticated client'),
  ban('rests | resting', 'cooling down'),
  ban('left alone', 'paused'),
  ban('heartbeat | heartbeats', 'keep-alive'),
  ban('under way', 'in progress'),
  ban('what stands', 'what exists'),
  ban('is to be had | are to be had', 'is available'),
  ban('all together', 'no grouping'),
  ban('leads? here', 'used by'),
  ban('this is needed', 'required'),
  ban('one a line', 'one per line'),
  ban('prolong', 'extend'),
  ban('anew', 'again'),
  ban('whoever', 'the operator, the client'),
  ban('lets? nobody', 'requires'),
  ban('the fault of', 'cause'),
  ban(String.raw`\d+ %`, '43%'),
]

describe('banned words', () => {
  const planted = (text: string, path = 'src/core/planted.ts') => [readWording(parseModule(path, text))]

  it.each([
    ['a variable', 'const sickParts = []'],
    ['a part of a pattern', 'const { parts: sickParts = 1 } = x'],
    ['a function', 'function findSickParts() {}'],
    ['a parameter', 'const f = ([sickPart]) => sickPart'],
    ['a method', 'class A { sick() {} }'],
    ['a property of a class', 'class A { private sick = 1 }'],
    ['a private member', 'class A { #sick = 1 }'],
    ['a property of a type', 'interface A { isSick: boolean }'],
    ['a type', 'type SickPart = string'],
    ['a class', 'class SICKPart {}'],
  ])('are seen in the name of %s', (_what, text) => {
    expect(findInNames(planted(text), ban('sick', 'unhealthy'))).toEqual([
      expect.stringMatching(/^src\/core\/planted\.ts:1: .*sick/),
    ])
  })

  it('are seen in the name of a file, and as two words', () => {
    expect(findInNames(planted('', 'src/core/sick-parts.ts'), ban('sick', 'unhealthy'))).toHaveLength(1)
    expect(findInNames(planted('const way_outOf = 1'), ban('way out', 'egress'))).toHaveLength(1)
  })

  it.each([
    ['a string', "say('The store is sick.')"],
    ['a template', 'say(`$' + '{name} is sick`)'],
    ['JSX', 'const a = <p>The store is sick</p>'],
    ['an attribute', 'const a = <p title="A sick store" />'],
  ])('are seen in %s', (_what, text) => {
    expect(findInTexts(planted(text, 'src/console/app/planted.tsx'), ban('sick', 'unhealthy'))).toHaveLength(1)
  })

  it('are let alone in comments, in other words, where a name of somebody else is used, and in imports', () => {
    const text = [
      "import { sick } from './sick.ts' // sick",
      "const homesickness = list.sick('homesick')",
      'const { sick: unhealthy } = answer',
    ]
    expect(findInNames(planted(text.join('\n')), ban('sick', 'unhealthy'))).toEqual([])
    expect(findInTexts(planted(text.join('\n')), ban('sick', 'unhealthy'))).toEqual([])
  })
})

/** Names that several files give to types of their own, with the files. */
function findSharedNames(modules: readonly Module[]): string[] {
  const files = new Map<string, string[]>()
  for (const { path, text } of modules)
    for (const [, name = ''] of text.matchAll(/^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm))
      files.set(name, [...(files.get(name) ?? []), path])
  return [...files].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

describe('the code', () => {
  const modules = readModules('src', 'cli', 'tui', 'scripts')
  const wordings = modules.map(readWording)

  it.each(bannedNames.map((one) => [one.words.join(', '), one.instead, one] as const))(
    'has no name with %s (use: %s)',
    (_words, _instead, one) => {
      const found = findInNames(wordings, one)
      expect(found.length > one.standing ? found : []).toEqual([])
    },
  )

  it.each(bannedTexts.map((one) => [one.words.join(', '), one.instead, one] as const))(
    'has no text for people with %s (use: %s)',
    (_words, _instead, one) => {
      const found = findInTexts(wordings, one)
      expect(found.length > one.standing ? found : []).toEqual([])
    },
  )

  it('has no two types of the same name', () => {
    // The console's own are about what the operations of the same names return.
    const own = modules.filter(({ path }) => !path.startsWith('src/console/app/') && !path.startsWith('scripts/'))
    expect(findSharedNames(own)).toEqual([])
  })
})
