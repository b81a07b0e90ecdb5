import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorCodes } from '../../src/core/errors.ts'
import { version } from '../../src/daemon/version.ts'
import { lanes } from '../../src/lanes/index.ts'
import { localCommands } from '../../src/local-commands.ts'
import { providerKinds } from '../../src/providers/index.ts'
import { readModules, root } from './checks/modules.ts'
import {
  checkCommands,
  checkLines,
  checkLinks,
  checkNames,
  checkPaths,
  isSpecification,
  readPages,
} from './checks/prose.ts'

const pages = readPages()
const described = pages.filter((page) => !isSpecification(page))
const readme = pages.filter(({ path }) => path === 'README.md')
const source = readModules('src', 'cli', 'tui', 'scripts')
  .map(({ text }) => text)
  .join('\n')
const local = localCommands.map(({ name }) => name)
const planted = (text: string) => [{ path: 'README.md', text }]

describe('what the pages name', () => {
  it('sees a path, a link, a name and a command that are not there', () => {
    expect(checkPaths(planted('see `src/gateway/pipelines.ts`'))).toHaveLength(1)
    expect(checkPaths(planted('see `src/lanes/<lane>/none.ts`'))).toHaveLength(1)
    expect(checkPaths(planted('see `src/lanes/<lane>/lane.ts` and `src/core/`'))).toEqual([])
    expect(checkLinks(planted('[a](docs/none.md)'))).toHaveLength(1)
    expect(checkLinks(planted('[a](docs/reference/errors.md#none)'))).toHaveLength(1)
    expect(checkLinks(planted('[a](docs/reference/errors.md#errors) [b](https://example.org/none)'))).toEqual([])
    expect(checkNames(planted('`notThere()` and `NotThere`'), source)).toHaveLength(2)
    expect(checkNames(planted('`admitKey()` and `Arrival`'), source)).toEqual([])
    expect(checkCommands(planted('`spgw provider list`'), local)).toHaveLength(1)
    expect(checkCommands(planted('```sh\nspgw keys make --name a\n```'), local)).toHaveLength(1)
    expect(checkCommands(planted('`spgw keys add`, `spgw serve --demo`'), local)).toEqual([])
  })

  it('is there', () => {
    expect(checkPaths(pages)).toEqual([])
    expect(checkLinks(pages)).toEqual([])
    expect(checkNames(described, source)).toEqual([])
    expect(checkCommands(described, local)).toEqual([])
  })
})

describe('lines of pages', () => {
  const long = 'word '.repeat(25)

  it('are seen when they are too long', () => {
    expect(checkLines(planted(long))).toEqual(['README.md:1: more than 120 characters'])
    expect(checkLines(planted(`\n- ${long}`))).toEqual(['README.md:2: more than 120 characters'])
    expect(checkLines(planted(`1. see \`${'x'.repeat(120)}\``))).toHaveLength(1)
  })

  it('are let alone in tables and code, and where they have no place to break', () => {
    const alone = [`- [${long}](https://example.org/${'x'.repeat(120)})`, `\`${long}\`,`]
    expect(checkLines(planted([`| ${long} |`, `    ${long}`, `\`\`\`\n${long}\n\`\`\``, ...alone].join('\n')))).toEqual(
      [],
    )
  })

  it('are short', () => {
    expect(checkLines(pages)).toEqual([])
  })
})

describe('docs/architecture.md', () => {
  it('can be read at one sitting', () => {
    const page = pages.find(({ path }) => path === 'docs/architecture.md')
    expect(page?.text.split('\n').length).toBeLessThanOrEqual(200)
  })
})

describe('README.md', () => {
  const text = readme.map((page) => page.text).join('')

  it('has a page to read', () => {
    expect(text.length).toBeGreaterThan(1000)
  })

  it('names every kind, and the page of every lane', () => {
    expect(providerKinds.map(({ kind }) => kind).filter((name) => !text.includes(`\`${name}\``))).toEqual([])
    for (const { prefix } of lanes)
      expect(text).toMatch(new RegExp(`\\| \\w+ lane, \`${prefix}[^|]*\\|[^|]*docs/lanes.md`))
  })
})

describe('the version', () => {
  it('is that of package.json on the pages that show it, and has a section in CHANGELOG.md', () => {
    const read = (name: string) => readFileSync(join(root, name), 'utf8')
    const shown = ['README.md', 'docs/tui.md'].flatMap((name) => read(name).match(/spgw \d+\.\d+\.\d+/g) ?? [])
    expect(shown).toEqual([`spgw ${version}`, `spgw ${version}`])
    expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## \\[${version}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'))
  })
})

describe('docs/troubleshooting.md', () => {
  it('names only codes that exist', () => {
    const text = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8')
    const table = text.split('\n').filter((line) => /^\| (\[|`)/.test(line))
    const codes = table.flatMap((line) => [...line.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, code]) => code))
    expect(codes.length).toBeGreaterThan(15)
    const known = [...errorCodes, 'provider_error', 'client_closed']
    expect(codes.filter((code) => !known.includes(code ?? ''))).toEqual([])
  })

  it('quotes messages, and reasons of degraded parts, as the gateway words them', () => {
    const text = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8')
    const messages = [...text.matchAll(/\*"([^"]+)"\*/g)].map(([, message = '']) => message)
    expect(messages.length).toBeGreaterThan(2)
    expect(messages.filter((message) => !source.includes(message))).toEqual([])
    const reasons = quotedReasons(text)
    expect(reasons.length).toBeGreaterThan(15)
    expect(reasons.filter((reason) => !source.includes(reason))).toEqual([])
    expect(quotedReasons('| reason | meaning |\n|---|---|\n| `the moon is full (EMOON)`, `no …` | a |\n')).toEqual([
      'the moon is full',
      'no ',
    ])
  })
})

/** Code spans in the first column of tables of reasons, without what is filled in (an error's code, a name). */
function quotedReasons(text: string): string[] {
  const tables = [...text.matchAll(/^\| reason \|.*\n(?:\|.*\n)+/gm)].flatMap(([table]) => table.split('\n').slice(2))
  const spans = tables.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, span]) => span ?? ''),
  )
  return spans.map((span) => span.replace(/ \([A-Z]+\)$/, '').replace(/(?:; .*)?…$/, ''))
}
