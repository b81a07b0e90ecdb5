import { ORPCError } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import {
  findEnvironment,
  findKey,
  findListScope,
  findPolicy,
  findProject,
  findProvider,
  findRoute,
  findRouteScope,
} from '../../src/admin/handlers/find.ts'
import { loadNames } from '../../src/admin/handlers/names.ts'
import type { Environment, Project } from '../../src/store/api.ts'

const project = (name: string) => ({ id: `prj_${name}`, name }) as Project
const environment = (of: string, name: string) =>
  ({ id: `env_${of}_${name}`, projectId: `prj_${of}`, name }) as Environment
const projects = [project('a'), project('b')]
const environments = [environment('a', 'production'), environment('a', 'staging'), environment('b', 'production')]
/** By project, environment (null: all) and model. */
const routes = [
  'prj_a null everywhere',
  'prj_a env_a_production here',
  'prj_a null both',
  'prj_a env_a_production both',
]

/** By project and environment (null: all), of other projects than `a`. */
const elsewhere: [string, string | null, string][] = [
  ['prj_b', 'env_b_production', 'there'],
  ['prj_b', null, 'shared'],
  ...['w', 'x', 'y', 'z', 'zz'].map((each): [string, string, string] => [`prj_${each}`, 'env', 'common']),
]
const places = (is: string) =>
  elsewhere.map(([projectId, environmentId, name]) => ({ projectId, environmentId, [is]: name }))

const none = { find: async () => null, list: async () => [] }
const tables = {
  projects: {
    find: async (name: string) => projects.find((each) => each.name === name || each.id === name) ?? null,
    list: async () => projects,
  },
  environments: {
    find: async (of: string, name: string) =>
      environments.find((each) => each.projectId === of && each.name === name) ?? null,
    list: async (of: string | null) => environments.filter(({ projectId }) => of === null || projectId === of),
  },
  routes: {
    find: async (of: string, where: string | null, model: string) =>
      routes.includes(`${of} ${where} ${model}`) ? { model } : null,
    list: async () => places('model'),
  },
  keys: { ...none, list: async () => places('name') },
  ...{ providers: none, policies: none },
  ownership: { list: async () => [{ resourceId: 'prj_a', field: 'name', owner: 'file' }] },
}
const context = { store: tables as object as AdminContext['store'] }

const refusal = async (run: Promise<unknown>) => {
  const error = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ORPCError)) throw new Error('it was found')
  return { code: error.code, message: error.message, hint: error.data.hint }
}

describe('what is not there', () => {
  it.each([
    ['project x', () => findProject(context, 'x'), 'There is no project "x".', 'spgw projects list'],
    ['provider x', () => findProvider(context, 'x'), 'There is no provider "x".', 'spgw providers list'],
    ['policy x', () => findPolicy(context, 'x'), 'There is no policy "x".', 'spgw policies list'],
    [
      'environment x of a',
      () => findEnvironment(context, project('a'), 'x'),
      'There is no environment in project a named "x".',
      'spgw environments list --project a. To add it: spgw environments add x -p a',
    ],
    [
      'key x of a/production',
      () => findKey(context, 'x', { project: project('a'), environment: environment('a', 'production') }),
      'There is no key in a/production named "x".',
      'spgw keys list --all',
    ],
  ])('is said with where to look: %s', async (_what, find, message, command) => {
    expect(await refusal(find())).toEqual({ code: 'not_found', message, hint: `List them: ${command}` })
  })
})

describe('what is in another scope', () => {
  const key = (name: string, where: string) =>
    refusal(findKey(context, name, { project: project('a'), environment: environment('a', where) }))
  const route = (model: string) =>
    refusal(findRoute(context, { model, project: 'a', environment: 'production', allEnvironments: false }))

  it('is said with the flags that name it', async () => {
    expect((await key('there', 'production')).hint).toBe('There is one elsewhere: add -p b')
    expect((await key('there', 'staging')).hint).toBe('There is one elsewhere: add -p b -e production')
    expect((await route('there')).hint).toBe('There is one elsewhere: add -p b')
    expect((await route('shared')).hint).toBe('There is one elsewhere: add -p b --all-environments')
  })

  it('is left to the list where it is in many', async () => {
    expect((await key('common', 'production')).hint).toBe('List them: spgw keys list --all')
  })
})

describe('what a list covers', () => {
  const scope = async (named: Parameters<typeof findListScope>[1]) => {
    const { projectId, environmentIds, includes } = await findListScope(context, named)
    const places = [
      ...environments.map(({ projectId: of, id }) => ({ projectId: of, environmentId: id })),
      ...projects.map(({ id }) => ({ projectId: id, environmentId: null })),
    ]
    const included = places.filter(includes).map(({ projectId: of, environmentId }) => environmentId ?? `all of ${of}`)
    return { projectId, environmentIds, included }
  }
  const everything = ['env_a_production', 'env_a_staging', 'env_b_production', 'all of prj_a', 'all of prj_b']

  it('is everything where nothing is named, or all is asked for', async () => {
    for (const named of [{}, { all: true }, { all: true, project: 'a', environment: 'staging' }])
      expect(await scope(named)).toEqual({ projectId: null, environmentIds: null, included: everything })
  })

  it('is a project, or an environment with what is for all of its project', async () => {
    expect(await scope({ project: 'a' })).toEqual({
      ...{ projectId: 'prj_a', environmentIds: null },
      included: ['env_a_production', 'env_a_staging', 'all of prj_a'],
    })
    expect(await scope({ project: 'a', environment: 'staging' })).toEqual({
      ...{ projectId: 'prj_a', environmentIds: ['env_a_staging'] },
      included: ['env_a_staging', 'all of prj_a'],
    })
  })

  it('is every environment of a name where no project is named, or the one of an id', async () => {
    expect(await scope({ environment: 'production' })).toMatchObject({
      ...{ projectId: null, environmentIds: ['env_a_production', 'env_b_production'] },
      included: ['env_a_production', 'env_b_production', 'all of prj_a', 'all of prj_b'],
    })
    expect((await scope({ environment: 'env_b_production' })).included).toEqual(['env_b_production', 'all of prj_b'])
  })

  it('is nothing that is not there', async () => {
    expect(await refusal(findListScope(context, { environment: 'x' }))).toMatchObject({
      message: 'There is no environment "x".',
    })
    expect(await refusal(findListScope(context, { project: 'b', environment: 'staging' }))).toMatchObject({
      message: 'There is no environment in project b named "staging".',
    })
    expect((await refusal(findListScope(context, { project: 'x' }))).message).toBe('There is no project "x".')
  })
})

describe('a route', () => {
  const find = (model: string, allEnvironments: boolean, where = 'production') =>
    findRoute(context, { model, project: 'a', environment: where, allEnvironments })

  it('is the one of the scope that is named', async () => {
    expect(await find('both', true)).toEqual({ model: 'both' })
    expect(await find('both', false)).toEqual({ model: 'both' })
  })

  it('that is elsewhere in the project is not taken for it, and said', async () => {
    expect(await refusal(find('everywhere', false))).toEqual({
      code: 'not_found',
      message: 'There is no route in a/production for "everywhere".',
      hint: 'The project has a route for all its environments: add --all-environments',
    })
    expect(await refusal(find('here', true))).toMatchObject({
      message: 'There is no route in all environments of a for "here".',
      hint: expect.stringContaining('a/production has a route of its own: leave --all-environments out'),
    })
    expect(await refusal(find('nowhere', true))).toMatchObject({ hint: 'List them: spgw routes list --all' })
  })

  it('of all environments needs none of them to be there', async () => {
    expect(await find('everywhere', true, 'gone')).toEqual({ model: 'everywhere' })
    expect(await refusal(find('everywhere', false, 'gone'))).toMatchObject({
      message: 'There is no environment in project a named "gone".',
    })
    expect((await refusal(find('nowhere', true, 'gone'))).hint).toBe('List them: spgw routes list --all')
    expect(await findRouteScope(context, { project: 'b', environment: 'gone', allEnvironments: true })).toEqual({
      ...{ project: project('b'), environment: null },
    })
  })
})

it('names are those of today, and what went away between two readings shows as its id', async () => {
  const names = await loadNames(context)
  expect([names.project('prj_a'), names.environment('env_a_staging')]).toEqual(['a', 'staging'])
  expect([names.project('prj_x'), names.provider('prv_x')]).toEqual(['prj_x', 'prv_x'])
  expect([names.owned('prj_a'), names.owned('prj_b')]).toEqual([{ name: 'file' }, {}])
})
