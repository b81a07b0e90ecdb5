import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { readFields } from '../../cli/fields.ts'
import { buildProgram, runCli } from '../../cli/program.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { fakeIo } from './fake-io.ts'
import { runLine } from './run-line.ts'

const serve = {
  name: 'serve',
  summary: 'Run the gateway',
  options: [{ flags: '--listen <host:port>', description: 'address of the gateway' }],
  examples: ['serve --listen 127.0.0.1:8787'],
  run: async () => 0,
}

async function helpOf(...path: string[]): Promise<string> {
  const { status, io } = await runLine([...path, '--help'], { local: [serve] })
  expect(status).toBe(0)
  expect(io.err()).toBe('')
  return io.out()
}

describe('the program', () => {
  it('has one command for each operation, and no other but the local ones', async () => {
    const dependencies = { operations: async () => catalog, local: [serve], io: fakeIo(), version: '0.1.0' }
    const program = await buildProgram(
      { ...dependencies, connect: () => Promise.reject(new Error('not here')) },
      () => {},
    )
    expect(leavesOf(program).sort()).toEqual(['serve', ...listOperations().map(({ name }) => name)].sort())
  })
})

describe('the contract', () => {
  async function isLoadedBy(...argv: string[]): Promise<boolean> {
    let loaded = false
    const operations = async () => {
      loaded = true
      return catalog
    }
    const connect = () => Promise.reject(new Error('not here'))
    await runCli(argv, { operations, connect, local: [serve], io: fakeIo(), version: '0.1.0' })
    return loaded
  }

  it.each([[['serve']], [['serve', '--help']], [['--data-dir', 'keys', 'serve']], [['-y', '--output=json', 'serve']]])(
    'is not loaded by %j, nor is what hangs on it',
    async (argv) => expect(await isLoadedBy(...argv)).toBe(false),
  )

  it.each([[['keys', 'list']], [['--data-dir', 'serve', 'keys', 'list']], [['--help']], [['serv']], [[]]])(
    'is loaded by %j',
    async (argv) => expect(await isLoadedBy(...argv)).toBe(true),
  )
})

function leavesOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join('.')]
  return command.commands.flatMap((inner) => leavesOf(inner, [...path, inner.name()]))
}

describe('help', () => {
  it.each([
    ['root', []],
    ['serve', ['serve']],
    ['providers', ['providers']],
    ['providers-add', ['providers', 'add']],
    ['keys-create', ['keys', 'create']],
    ['requests-list', ['requests', 'list']],
  ])('of %s reads well', async (name, path) => {
    await expect(await helpOf(...path)).toMatchFileSnapshot(`../fixtures/cli/help-${name}.txt`)
  })

  it.each(listOperations().map((operation) => [operation.name, operation] as const))(
    'of %s has its summary, its examples and every field',
    async (_, { path, meta, input }) => {
      const help = (await helpOf(...path)).replace(/\s+/g, ' ')
      expect(help).toContain(meta.summary)
      for (const example of meta.examples ?? []) expect(help).toContain(`spgw ${example}`)
      for (const field of readFields(input)) {
        // What the files name, taken from the environment: no flag carries it.
        if (field.syntax === 'variables') continue
        const term = meta.positional?.includes(field.name)
          ? new RegExp(`[<[]${field.flag}[>\\]]`)
          : new RegExp(`--(no-)?${field.flag}${field.secret ? '-stdin' : ''} `)
        expect(help).toMatch(term)
        // A note in brackets at its end stands among what help adds to it.
        const [text = '', note = ''] = /^(.*?)(?: \(([^()]*)\))?$/.exec(field.description)?.slice(1) ?? []
        expect(help).toContain(text)
        expect(help).toContain(note)
      }
    },
  )

  it('is shown for spgw alone, and is a mistake for an area alone', async () => {
    const alone = await runLine([])
    expect([alone.status, alone.io.err()]).toEqual([0, ''])
    expect(alone.io.out()).toContain('Commands:')
    const area = await runLine(['keys'])
    expect([area.status, area.io.out()]).toEqual([2, ''])
    expect(area.io.err()).toContain('rotate')
  })

  it('fits a narrow terminal', async () => {
    const { io } = await runLine(['providers', 'add', '--help'], { terminal: true, columns: 60 })
    const long = io
      .out()
      .split('\n')
      .filter((line) => line.length > 60 && !line.startsWith('  spgw '))
    expect(long).toEqual([])
  })

  it.each([[[]], [['keys']], [['keys', 'create']]])('is also what help says: %j', async (words) => {
    const asked = await runLine(['help', ...words])
    expect([asked.status, asked.io.out()]).toEqual([0, (await runLine([...words, '--help'])).io.out()])
    expect(asked.io.out()).toMatch(new RegExp(`^Usage: ${['spgw', ...words].join(' ')}\\b`))
  })

  it('gives the version', async () => {
    const { status, io } = await runLine(['--version'])
    expect([status, io.out()]).toEqual([0, '0.1.0\n'])
  })
})
