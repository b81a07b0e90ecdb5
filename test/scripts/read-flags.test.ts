import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import packageDescription from '../../package.json' with { type: 'json' }
import { readFlags } from '../../scripts/read-flags.ts'

const help = 'npm run something\n'
const options = { to: { type: 'string' }, write: { type: 'boolean', default: false } } as const
const { argv } = process

afterEach(() => {
  process.argv = argv
  vi.restoreAllMocks()
})

/** What a script is given, or the status that it ends with and what it prints. */
function read(...words: string[]): unknown {
  process.argv = ['node', 'script', ...words]
  const printed = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += text
      return true
    })
  vi.spyOn(process, 'exit').mockImplementation((status) => {
    throw Object.assign(new Error('ended'), { status: status ?? 0, ...printed })
  })
  try {
    const { values, positionals } = readFlags(help, { options, allowPositionals: true })
    return { ...values, positionals }
  } catch (error) {
    return { ...(error as Error) }
  }
}

it('returns what was asked for', () => {
  expect(read('--to', 'there', 'one', 'two')).toEqual({ to: 'there', write: false, positionals: ['one', 'two'] })
})

it.each([['--help'], ['-h'], ['--write', '--help'], ['--nothing', '--help']])(
  '%s %s says what the script does, and no more happens',
  (...words) => {
    expect(read(...words)).toEqual({ status: 0, stdout: help, stderr: '' })
  },
)

it.each([
  [['--nothing'], "Unknown option '--nothing'"],
  [['--to'], "Option '--to <value>' argument missing"],
  [['--write=yes'], "Option '--write' does not take an argument"],
])('%s is refused in words, not with a stack', (words, message) => {
  const refused = read(...words) as { status: number; stdout: string; stderr: string }
  expect(refused).toMatchObject({ status: 2, stdout: '' })
  expect(refused.stderr).toContain(message)
  expect(refused.stderr).toContain(help)
  expect(refused.stderr).not.toContain('    at ')
})

it('is what every npm command asks before it works', () => {
  const commands = Object.entries(packageDescription.scripts).flatMap(([name, line]) => {
    const file = /"node (scripts\/[\w/-]+\.ts)"$/.exec(line)?.[1]
    return file === undefined ? [] : [{ name, text: readFileSync(join(import.meta.dirname, '../..', file), 'utf8') }]
  })
  expect(commands.map(({ name }) => name)).toContain('release')
  // The bench reads them in its `readOrder`.
  const silent = commands.filter(({ text }) => !/read(?:Flags|Order)\(/.test(text))
  expect(silent.map(({ name }) => name)).toEqual([])
})
