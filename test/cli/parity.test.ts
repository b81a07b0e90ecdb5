import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { isSearch } from '../../src/admin/contract/requests/slow-filters.ts'
import { runLine } from './run-line.ts'

/** What a shell would make of an example: pipes, redirections and comments are the shell's own. */
function wordsOf(example: string, directory: string): string[] {
  const [command = ''] = example.split(/ (?:[|<>#]|&&) ?/, 1)
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
  return words.map(([, single, double, bare]) => inPlace(single ?? double ?? bare ?? '', directory))
}

/** Files are the test's own, and so is what a variable holds. */
function inPlace(word: string, directory: string): string {
  if (/\.(?:yaml|json|csv)$|\/$/.test(word)) return join(directory, word)
  return word.replace('/mnt/safe', directory).replace('$NOTED_HASH', 'a'.repeat(64))
}

function makeFiles(): string {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-parity-'))
  // An export without a file's name is written where the command runs.
  const before = process.cwd()
  process.chdir(directory)
  onTestFinished(() => {
    process.chdir(before)
    rmSync(directory, { recursive: true, force: true })
  })
  mkdirSync(join(directory, 'projects'))
  for (const file of [
    'gateway.yaml',
    'shared.yaml',
    'projects/one.yaml',
    'prices.json',
    'table.json',
    'usage.csv',
    'request.json',
  ])
    writeFileSync(join(directory, file), '{}')
  return directory
}

/** From the contract, not from a list: an operation that it learns is called here without anybody's doing. */
const examples = catalog.flatMap(({ name, path, meta }) =>
  (meta.examples ?? []).filter((line) => line.startsWith(path.join(' '))).map((example) => ({ name, example })),
)

it('every operation is called by an example of its own', () => {
  expect([...new Set(examples.map(({ name }) => name))]).toEqual(catalog.map(({ name }) => name))
})

it.each(examples)('$name is called by spgw $example', async ({ name, example }) => {
  const variable = /-env (\w+)/.exec(example)?.[1]
  const { calls, io } = await runLine([...wordsOf(example, makeFiles()), '--yes'], {
    stdin: 'a secret of some length',
    environment: variable === undefined ? {} : { [variable]: 'a-secret' },
    // A plan comes before what it is a plan of.
    gateway: {
      diff: () => ({
        owner: 'x',
        changes: [],
        problems: [],
        unset: [],
        notes: [],
        adopted: 1,
        released: 0,
        expect: {},
      }),
    },
  })
  expect(
    calls.map(([called]) => called),
    io.err(),
  ).toContain(
    calls.some(([called, input]) => called === 'requests.search' && isSearch(name, input)) ? 'requests.search' : name,
  )
})
