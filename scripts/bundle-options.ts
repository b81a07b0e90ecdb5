import { join } from 'node:path'
import type { BuildOptions } from 'esbuild'
import {
  deriveCatalog,
  keepSmallZodApart,
  keepVersionOnly,
  leaveOutBuilders,
  leaveOutFetch,
  leaveOutHttp2,
  leaveOutInkDevtools,
  leaveOutLocales,
  leaveOutMessageSigning,
  leaveOutParserTables,
  leaveOutPrograms,
  leaveOutSecondParser,
  leaveOutSocketParts,
  leaveOutSocks,
  leaveOutSqliteTables,
  leaveOutUndiciLog,
  leaveOutUuids,
  makeYogaAtOnce,
  packParser,
  takeEsModules,
} from './bundle-plugins.ts'

const root = join(import.meta.dirname, '..')

/** Name of the bundled file → source. `src/daemon/threads/threads.ts` expects these names in its own directory. */
export const threads = {
  'store-thread': join(root, 'src/store/thread.ts'),
  'backup-thread': join(root, 'src/store/backup/backup-thread.ts'),
  'cluster-thread': join(root, 'src/cluster/thread.ts'),
  'manifest-thread': join(root, 'src/manifest/thread.ts'),
  'gateway-thread': join(root, 'src/gateway/thread/thread.ts'),
  // Sent to those threads once a policy needs it (src/gateway/thread/pattern-engine.ts).
  'pattern-engine': join(root, 'src/policy/content/pattern-seeker.ts'),
}

/** One script is strict as a whole: without this, esbuild says so again in each of its modules, 6 kB of text in every thread. */
const strictOnce: Pick<BuildOptions, 'tsconfigRaw' | 'banner'> = {
  tsconfigRaw: { compilerOptions: { strict: false, verbatimModuleSyntax: true } },
  banner: { js: '"use strict";' },
}

/** What program and threads have in common. */
export function buildOptions(outdir: string, forTests: boolean, addonHash: string) {
  return {
    outdir,
    bundle: true,
    // A CommonJS module keeps its path as a name: the same text wherever `node_modules` leads, as in a second work tree.
    preserveSymlinks: true,
    platform: 'node',
    target: 'node26',
    // Names at the top are kept for readable stack traces. Not with `keepNames`, which wraps every closure when it is created.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    define: {
      __BUNDLED__: 'true',
      __FAULT_POINTS__: String(forTests),
      __ADDON_HASH__: JSON.stringify(addonHash),
      'import.meta.dirname': '__dirname',
      // undici's flag for the copy inside Node: it leaves out an experimental parser, 180 KB of text in every thread.
      esbuildDetection: 'true',
      // React's production build.
      'process.env.NODE_ENV': '"production"',
    },
    plugins: [
      deriveCatalog,
      keepVersionOnly,
      leaveOutHttp2,
      leaveOutBuilders,
      leaveOutMessageSigning,
      leaveOutParserTables,
      leaveOutPrograms,
      leaveOutSecondParser,
      packParser,
      leaveOutSocketParts,
      leaveOutSocks,
      leaveOutSqliteTables,
      leaveOutUndiciLog,
      leaveOutUuids,
      takeEsModules,
      keepSmallZodApart,
      leaveOutLocales,
      leaveOutInkDevtools,
      makeYogaAtOnce,
    ],
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions
}

/** Each thread is one script, because the packaged executable starts it from its text. */
export function threadOptions(common: ReturnType<typeof buildOptions>) {
  return {
    ...common,
    ...strictOnce,
    format: 'cjs',
    plugins: [...common.plugins, leaveOutFetch],
  } as const satisfies BuildOptions
}
