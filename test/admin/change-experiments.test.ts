import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { operations } from '../../src/admin/handlers/base.ts'
import { bundleChanged, type SourceChange } from '../support/changed-sources.ts'

/** What it takes to add an operation: its entry in the contract and its handler. Everything else must follow from them. */
const changes: SourceChange[] = [
  {
    file: 'src/admin/contract/projects/environments.ts',
    from: '  list: operation({',
    to: `  count: operation({
    summary: 'Count environments',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'record' },
    examples: ['environments count'],
  })
    .input(z.strictObject(listProjectFields))
    .output(z.object({ environments: z.number() })),
  list: operation({`,
  },
  {
    file: 'src/admin/handlers/projects/environments.ts',
    from: '  list: operations.environments.list.handler(',
    to: `  count: operations.environments.count.handler(async ({ context, input }) => {
    const { projectId } = await findListScope(context, input)
    return { environments: (await context.store.environments.list(projectId)).length }
  }),
  list: operations.environments.list.handler(`,
  },
]

it('a new operation is a command, a call of the API and a page of the reference', async () => {
  // Below the repository, whose packages it imports.
  const root = join(import.meta.dirname, '../../.build')
  mkdirSync(root, { recursive: true })
  const directory = mkdtempSync(join(root, 'changed-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const url = await bundleChanged('test/support/operation-stage.ts', changes, directory, 'module')
  const changed: typeof import('../support/operation-stage.ts') = await import(url.href)

  const { socketPath } = await changed.startTestGateway()
  const run = async (...argv: string[]) => {
    const io = changed.fakeIo()
    const status = await changed.runCli(argv, {
      operations: async () => changed.catalog,
      local: [],
      io,
      version: '1.2.3',
      connect: async () =>
        changed.openCaller({
          destination: { kind: 'socket', path: socketPath },
          version: '1.2.3',
          surface: 'cli',
          waitMs: 0,
        }),
    })
    return { status, out: io.out(), err: io.err() }
  }
  expect(await run('environments', 'count', '--json')).toEqual({
    status: 0,
    out: '{\n  "environments": 1\n}\n',
    err: '',
  })
  expect((await run('environments', '--help')).out).toMatch(/count .*Count environments/)
  expect((await run('environments', 'count', '--nothing')).status).toBe(2)
  const page = await changed.apiReference()
  expect(page).toContain('Count environments. `POST /api/environments/count`, role viewer, changes nothing.')
})

it('an operation does not compile without its handler', () => {
  // @ts-expect-error: every operation of the contract has one
  expect(operations.environments.router({})).toEqual({})
})
