import type { Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { releasedBundle } from '../support/bundles.ts'
import { checkBundle } from './checks/bundle.ts'

/** Script text is memory, many times its own size once it has been run (docs/decisions/0012-memory.md). */
const undiciWhole = ['undici/index.js', 'undici/lib/web/fetch/index.js']
/** A gateway alone loads nothing of this. */
const ofClusters = [
  'src/cluster/',
  'src/daemon/cluster/cluster.ts',
  'src/daemon/cluster/shared-records.ts',
  'node_modules/pg',
  'node_modules/iovalkey/',
]
const dataPlane = {
  entries: ['src/gateway/thread/thread.ts'],
  // Of these, some 520 kB (translation, kept responses, WebSockets, Amazon's signer, JSON web tokens, the lines of batches' files,
  // content rules, cached answers, limits of accounts) lie there as text and are run by whoever needs them first. The engine for
  // patterns is a script of its own, which only those get that need it.
  bytes: 1_250_000,
  without: [
    'node_modules/zod/',
    'node_modules/yaml/',
    'node_modules/kysely/',
    'src/store/',
    'node_modules/re2js/',
    ...undiciWhole,
    ...ofClusters,
  ],
}
const store = {
  entries: ['src/store/thread.ts'],
  // Of these, some 25 kB are what a node of a cluster does with rows, records and objects, and run nowhere else; 7 kB are sums by tag.
  bytes: 415_000,
  without: ['node_modules/zod/', 'node_modules/yaml/', 'node_modules/undici/', ...ofClusters],
}
const serve = {
  entries: ['src/main.ts', 'src/config/load.ts', 'src/daemon/serve.ts'],
  // Of these, 7 kB are how limits are counted that nodes share, and 1 kB what to do about each conflict of the store.
  bytes: 626_500,
  without: [
    'zod/v4/classic/',
    'node_modules/undici/',
    'node_modules/@inquirer/',
    'src/admin/handlers/index',
    'cli/run.ts',
    'cli/catalog.ts',
    'tui/',
    'node_modules/react/',
    ...ofClusters,
  ],
}

let metafile: Metafile
beforeAll(async () => {
  metafile = (await releasedBundle()).described.metafile
})

describe('what is loaded at the start', () => {
  const output = (entryPoint: string, inputs: string[], imports: Metafile['outputs'][string]['imports'] = []) => ({
    entryPoint,
    bytes: 10,
    inputs: Object.fromEntries(inputs.map((path) => [path, { bytesInOutput: 5 }])),
    imports,
    exports: [],
  })
  const planted: Metafile = {
    inputs: {},
    outputs: {
      'a.js': output(
        'src/a.ts',
        ['src/a.ts'],
        [
          { path: 'shared.js', kind: 'import-statement' },
          { path: 'late.js', kind: 'dynamic-import' },
        ],
      ),
      'shared.js': output('', ['node_modules/zod/index.js']),
      'late.js': output('src/late.ts', ['node_modules/yaml/index.js']),
    },
  }

  it('is seen when it grows, when it is behind an import, and when it is not there at all', () => {
    const limit = { entries: ['src/a.ts'], bytes: 20, without: ['node_modules/yaml/'] }
    expect(checkBundle(planted, limit)).toEqual([])
    expect(checkBundle(planted, { ...limit, bytes: 19 })).toEqual([expect.stringContaining('loads 20 bytes')])
    expect(checkBundle(planted, { ...limit, without: ['node_modules/zod/'] })).toHaveLength(1)
    expect(checkBundle(planted, { ...limit, entries: ['src/late.ts'] })).toEqual([
      'src/late.ts loads node_modules/yaml/',
    ])
    expect(checkBundle(planted, { ...limit, entries: ['src/none.ts'] })).toHaveLength(1)
  })

  it.each([
    ['a data-plane thread', dataPlane],
    ['the store thread', store],
    ['serve', serve],
  ])('by %s keeps to its limit', (_name, limit) => {
    expect(checkBundle(metafile, limit)).toEqual([])
  })
})
