import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runLine } from './run-line.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'files-'))
  file = join(directory, 'gateway.yaml')
  writeFileSync(file, `providers:\n  - { name: a, credential: "\${ONE}", tags: { x: "\${TWO}" } }\n`)
})
afterEach(() => rmSync(directory, { recursive: true }))

const where = { project: 'default', environment: 'production', id: null }
const create = {
  action: 'create',
  kind: 'key',
  name: 'ci',
  ...where,
  fields: [{ field: 'tags', before: null, after: { team: 'a' } }],
}
const change = {
  ...{ action: 'change', kind: 'route', name: 'gpt-4o', ...where },
  fields: [{ field: 'retries', before: 1, after: 3 }],
}
const remove = {
  action: 'remove',
  kind: 'policy',
  name: 'old\u001b[2J',
  project: null,
  environment: null,
  id: 'pol_1',
  fields: [],
}
const planOf = (...changes: object[]) => ({
  ...{ owner: 'platform', changes, problems: [], unset: [], notes: ['a note'], adopted: 2, released: 0 },
  expect: { 'key ci': 'abc' },
})
const gatewayOf = (plan: object, applied: object = {}) => ({
  diff: () => plan,
  apply: () => ({ ...plan, keys: [], checked: ['openai'], ...applied }),
})

describe('diff', () => {
  it('shows what would change, and sends only variables that the files name', async () => {
    const environment = { ONE: 'sk-canary', OTHER: 'sk-other' }
    const { status, io, calls } = await runLine(['diff', '-f', file], {
      gateway: gatewayOf(planOf(create, change, remove)),
      environment,
    })
    expect(status).toBe(0)
    expect(io.out()).toBe(`1 to create, 1 to change, 1 to remove.
  + create key ci in default/production
    tags  team=a
  ~ change route gpt-4o in default/production
    retries  1 → 3
  - remove policy old\\u001b[2J
2 fields will be managed by these files (owner platform): by hand they change only with --force.
Note: a note.
`)
    expect(calls[0]?.[1]).toMatchObject({ variables: { ONE: 'sk-canary' } })
    expect(JSON.stringify(calls)).not.toContain('sk-other')
  })

  it('sends the files that the files name, without their line ends', async () => {
    const secret = join(directory, 'secret')
    const naming = join(directory, 'naming.yaml')
    writeFileSync(secret, '{"a":\n"sk-canary"}\n')
    writeFileSync(naming, `a: "\${file:${secret}}"\nb: "\${file:/none/at/all}"\nc: "$\${file:${file}}"\n`)
    const { calls } = await runLine(['diff', '-f', naming], { gateway: gatewayOf(planOf()) })
    expect(calls[0]?.[1].variables).toEqual({ [`file:${secret}`]: '{"a":\n"sk-canary"}' })
  })

  it('prints the list of changes as JSON', async () => {
    const { io } = await runLine(['diff', '-f', file, '--json'], { gateway: gatewayOf(planOf(change)) })
    expect(JSON.parse(io.out())).toEqual([change])
    const none = await runLine(['diff', '-f', file, '--json'], { gateway: gatewayOf(planOf()) })
    expect(none.io.out()).toBe('[]\n')
  })

  it('reads directories in order, and standard input', async () => {
    mkdirSync(join(directory, 'more'))
    for (const name of ['b.yml', 'a.json', 'c.txt']) writeFileSync(join(directory, 'more', name), name)
    const ran = await runLine(['diff', '-f', join(directory, 'more'), '-f', '-'], {
      gateway: gatewayOf(planOf()),
      stdin: 'said',
    })
    expect(Object.entries(ran.calls[0]?.[1].files ?? {})).toEqual([
      [join(directory, 'more', 'a.json'), 'a.json'],
      [join(directory, 'more', 'b.yml'), 'b.yml'],
      ['standard input', 'said'],
    ])
  })

  it('reads no file without an end, as a link in a repository may be one', async () => {
    symlinkSync('/dev/zero', join(directory, 'more.yaml'))
    const { status, io } = await runLine(['diff', '-f', directory], { gateway: gatewayOf(planOf()) })
    expect(status).toBe(2)
    expect(io.err()).toContain('more.yaml is longer than 8 MiB.')
    writeFileSync(file, `providers: [{ name: a, credential: "\${file:/dev/zero}" }]`)
    const { calls } = await runLine(['diff', '-f', file], { gateway: gatewayOf(planOf()) })
    expect(calls).toMatchObject([['diff', { variables: {} }]])
  })

  it('is shown, and not applied, where a new credential is not set', async () => {
    const message = 'provider a: the variable TWO is not set'
    const gateway = gatewayOf({ ...planOf(create), unset: [{ place: 'a.yaml:1:1', message }] })
    expect(await runLine(['diff', '-f', file], { gateway })).toMatchObject({ status: 0 })
    const applied = await runLine(['apply', '-f', file, '--yes'], { gateway })
    expect([applied.status, applied.calls.map(([name]) => name)]).toEqual([2, ['diff']])
    expect(applied.io.err()).toContain(`a.yaml:1:1: ${message}\nNothing was changed. Set the variables`)
  })

  it('says all mistakes with their places, and what is missing', async () => {
    const problems = [
      { place: 'a.yaml:1:1', message: 'one' },
      { place: 'a.yaml:2:1', message: 'two' },
    ]
    const wrong = await runLine(['diff', '-f', file], { gateway: gatewayOf({ ...planOf(), problems }) })
    expect([wrong.status, wrong.io.out()]).toEqual([2, ''])
    expect(wrong.io.err()).toContain('a.yaml:1:1: one\na.yaml:2:1: two\n')
    expect((await runLine(['diff'])).status).toBe(2)
    expect((await runLine(['diff', '-f', join(directory, 'none.yaml')])).status).toBe(2)
  })
})

describe('apply', () => {
  const terminal = true

  it('asks on a terminal, and sends what was shown', async () => {
    const gateway = gatewayOf(planOf(change))
    const agreed = await runLine(['apply', '-f', file, '--skip-check'], { gateway, terminal, answers: [true] })
    expect([agreed.status, agreed.io.questions]).toEqual([0, ['Apply these changes?']])
    expect(agreed.calls.map(([name]) => name)).toEqual(['diff', 'apply'])
    expect(agreed.calls[1]?.[1]).toMatchObject({ expect: { 'key ci': 'abc' }, skipCheck: true })
    expect(agreed.calls[0]?.[1]).not.toHaveProperty('skipCheck')
    expect(agreed.io.err()).toContain('Applied: 1 changed. Checked: openai.')
    const declined = await runLine(['apply', '-f', file], { gateway, terminal, answers: [false] })
    expect([declined.status, declined.calls.length]).toEqual([1, 1])
  })

  it('asks for the name of the owner before anything is removed', async () => {
    const gateway = gatewayOf(planOf(remove))
    const slip = await runLine(['apply', '-f', file, '--prune'], { gateway, terminal, answers: ['yes'] })
    expect([slip.status, slip.calls.length]).toEqual([1, 1])
    const meant = await runLine(['apply', '-f', file, '--prune'], { gateway, terminal, answers: ['platform'] })
    expect([meant.status, meant.calls.length]).toEqual([0, 2])
  })

  it('is refused without --yes where nobody can be asked, unless there is nothing to do', async () => {
    const refused = await runLine(['apply', '-f', file], { gateway: gatewayOf(planOf(change)) })
    expect([refused.status, refused.calls.length]).toEqual([2, 1])
    expect(refused.io.err()).toContain('--yes')
    expect((await runLine(['apply', '-f', file, '--yes'], { gateway: gatewayOf(planOf(change)) })).status).toBe(0)
    const nothing = await runLine(['apply', '-f', file], { gateway: gatewayOf(planOf()) })
    expect([nothing.status, nothing.calls.length]).toEqual([0, 2])
  })

  it('names the nodes of a cluster that go on by what was before', async () => {
    const nodes = { reached: ['gw-a'], missing: [{ name: 'gw-b', last_heard_at: null }] }
    const { io } = await runLine(['apply', '-f', file, '--yes'], { gateway: gatewayOf(planOf(change), { nodes }) })
    expect(io.err()).toContain('Not reached: gw-b (last heard of never). Each goes by the earlier configuration')
  })

  it('shows new keys once, alone on standard output', async () => {
    const keys = [{ name: 'ci', project: 'default', environment: 'production', key: 'sp_live_x' }]
    const { io } = await runLine(['apply', '-f', file, '--yes'], { gateway: gatewayOf(planOf(create), { keys }) })
    expect(io.out()).toBe('default/production/ci sp_live_x\n')
    expect(io.err()).not.toContain('sp_live_x')
  })
})
