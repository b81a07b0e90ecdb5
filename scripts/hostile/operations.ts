import { ORPCError } from '@orpc/client'
import type { AdminClient } from '../../src/admin/client.ts'
import { errorText } from '../../src/core/caught.ts'
import type { HostileCase } from './case.ts'
import { fill, MB, values } from './shapes.ts'
import type { Stage } from './stage.ts'

/** What an operator's token may send: files for `diff` and `apply`, filters, names. Each call may bring 1 MiB. */

const lines = (size: number, line: (at: number) => string) => Array.from({ length: size }, (_, at) => line(at)).join('')
const base = 'providers: [{ name: p, kind: demo }]\n'
const routes = (size: number) => `${base}routes:\n${lines(size, (at) => `  - { model: r${at}, provider: p }\n`)}`

const files: Record<string, () => string> = {
  '4,000 routes': () => routes(4000),
  '9,900 routes': () => routes(9900),
  '20,000 routes': () => routes(20_000),
  '20,000 routes as JSON': () =>
    JSON.stringify({ routes: Array.from({ length: 20_000 }, (_, at) => ({ model: `j${at}`, provider: 'p' })) }),
  '4,000 keys': () => `keys:\n${lines(4000, (at) => `  - { name: k${at} }\n`)}`,
  '4,000 patterns': () => `${base}routes:\n${lines(4000, (at) => `  - { model: 'x${at}*', provider: p }\n`)}`,
  '9,000 routes with mistakes': () => `routes:\n${lines(9000, (at) => `  - { modle: r${at}, provider: q${at} }\n`)}`,
  'fields that nobody knows': () => `providers:\n  - name: p\n${lines(30_000, (at) => `    s${at}: 1\n`)}`,
  'one list deep': () => `routes: ${'['.repeat(400_000)}`,
  'one map deep': () => lines(1200, (at) => `${' '.repeat(at)}a:\n`),
  'an alias of aliases': () => {
    const levels = lines(25, (at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}, *a${at}]\n`)
    return `a0: &a0 [1]\n${levels}`
  },
  'many anchors': () => lines(40_000, (at) => `- &a${at} 1\n`),
  'one text of variables': () => `policies: [{ name: p, deny_models: ['${fill(900_000, `\${A}`)}'] }]`,
  'open braces of variables': () => `policies: [{ name: p, deny_models: ['${fill(900_000, `\${`)}'] }]`,
  'one long key': () => `? ${'a'.repeat(900_000)}\n: 1\n`,
  'one folded text': () => `a: >\n${fill(900_000, '  b\n')}`,
  tags: () => fill(900_000, '- !a b\n'),
  documents: () => fill(900_000, '---\n'),
}

async function describeOutcome(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'done'
  } catch (error) {
    if (error instanceof ORPCError) return `${error.status} ${error.code}`
    return errorText(error)
  }
}

const manifests = Object.entries(files).flatMap(([name, make]): HostileCase[] => [
  {
    area: 'diff',
    name,
    sample: name === '4,000 routes',
    run: ({ admin }) => describeOutcome(admin.diff({ files: { 'a.yaml': make() }, variables: { A: 'x'.repeat(100) } })),
  },
])

/** In this order: each leaves what the next one changes. */
const applied: [string, string, (admin: AdminClient) => Promise<unknown>][] = [
  ['apply', '4,000 routes', (admin) => apply(admin, routes(4000))],
  ['apply', 'the same again', (admin) => apply(admin, routes(4000))],
  ['apply', '9,900 routes', (admin) => apply(admin, routes(9900))],
  ['export', 'of 9,900 routes', (admin) => admin.export({})],
  ['list', 'of 9,900 routes', (admin) => admin.routes.list({})],
  [
    'diff',
    '4,000 routes against 9,900',
    (admin) => admin.diff({ files: { 'a.yaml': routes(4000) }, variables: {}, prune: true }),
  ],
  ['explain', 'a model of 9,900 routes', (admin) => admin.routes.explain({ model: 'r9000' })],
  ['change of one route', 'among 9,900', (admin) => admin.routes.add({ model: 'one-more', targets: ['p'] })],
  ['apply --prune', 'all of them removed', (admin) => apply(admin, 'providers: [{ name: p, kind: demo }]\n', true)],
  ['apply', '4,000 keys', (admin) => apply(admin, files['4,000 keys']?.() ?? '')],
  ['list', 'of 4,000 keys', (admin) => admin.keys.list({})],
  ['apply --prune', '4,000 keys removed', (admin) => apply(admin, base, true)],
]

function apply(admin: AdminClient, text: string, prune = false): Promise<unknown> {
  return admin.apply({ files: { 'a.yaml': text }, variables: {}, prune, skipCheck: true })
}

const long = fill(900_000, 'a')
const many = Array.from({ length: 60_000 }, (_, at) => `t${at}=a`)
const filters: Record<string, (admin: AdminClient) => Promise<unknown>> = {
  'a long model': ({ requests }) => requests.list({ model: long }),
  'a long error': ({ requests }) => requests.list({ error: long }),
  'a long route': ({ requests }) => requests.stats({ route: long }),
  'many tags': ({ requests }) => requests.list({ tags: many }),
  'a hundred tags': ({ requests }) => requests.list({ tags: many.slice(0, 100) }),
  'one long tag': ({ requests }) => requests.stats({ tags: [`${long}=a`] }),
  'wildcards in an id': ({ requests }) => requests.list({ id: '%_'.repeat(32) }),
  'everything by key and model': ({ requests }) => requests.stats({ by: 'key,model' }),
  'everything by tag and day': ({ requests }) => requests.stats({ by: 'tag,day' }),
  'everything by tag': ({ requests }) => requests.stats({ by: 'tag' }),
  'everything, slow ones': ({ requests }) => requests.list({ slowerThan: '1ms', limit: 1000 }),
  'everything that fell back': ({ requests }) => requests.stats({ fellBack: true }),
  'steps by model': ({ requests }) => requests.series({ by: 'model', since: '30d' }),
  'export of everything': async ({ requests }) => {
    for await (const part of await requests.export({ format: 'csv' })) void part
  },
}
const filterCases = Object.entries(filters).map(
  ([name, act]): HostileCase => ({ area: 'filter of requests', name, run: ({ admin }) => describeOutcome(act(admin)) }),
)

const patterns: Record<string, (admin: AdminClient) => Promise<unknown>> = {
  'a long pattern': ({ routes }) => routes.add({ model: `${long}*`, targets: ['p'] }),
  'many stars': ({ routes }) => routes.add({ model: fill(500, 'a*'), targets: ['p'] }),
  'options of a target': ({ routes }) => routes.add({ model: 'o', targets: [`p:m${fill(900_000, ',weight=1')}!`] }),
  'many targets': ({ routes }) => routes.add({ model: 'many', targets: Array.from({ length: 30_000 }, () => 'p') }),
  'many patterns of a policy': ({ policies }) =>
    policies.add({ name: 'many', denyModels: Array.from({ length: 60_000 }, (_, at) => `a${at}*`) }),
  'a long name of a route to explain': ({ routes }) => routes.explain({ model: long }),
  'a long name to find': ({ keys }) => keys.show({ key: long }),
  'many prices': ({ prices }) =>
    prices.import({
      files: {
        'a.json': JSON.stringify(
          Object.fromEntries(
            Array.from({ length: 8000 }, (_, at) => [
              `m${at}`,
              { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, litellm_provider: 'openai', mode: 'chat' },
            ]),
          ),
        ),
      },
    }),
  'a deep price file': ({ prices }) => prices.import({ files: { 'a.json': values.deep?.(900_000) ?? '' } }),
}
const patternCases = Object.entries(patterns).map(
  ([name, act]): HostileCase => ({ area: 'names and patterns', name, run: ({ admin }) => describeOutcome(act(admin)) }),
)

async function post(stage: Stage, path: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', origin: stage.consoleUrl }
  const signal = AbortSignal.timeout(30_000)
  const answer = await fetch(`${stage.consoleUrl}${path}`, { method: 'POST', body, headers, signal })
  await answer.text()
  return String(answer.status)
}
const consoleCases = Object.entries(values).map(
  ([name, make]): HostileCase => ({
    area: 'body at the console',
    name,
    run: (stage) => post(stage, '/auth/sign-in', make(30 * MB)).catch((error: unknown) => String(error).slice(0, 40)),
  }),
)

export const operationCases: readonly HostileCase[] = [
  ...manifests,
  ...applied.map(
    ([area, name, act]): HostileCase => ({
      area,
      name,
      sample: name === '4,000 routes',
      run: ({ admin }) => describeOutcome(act(admin)),
    }),
  ),
  ...filterCases,
  ...patternCases,
  ...consoleCases,
]
