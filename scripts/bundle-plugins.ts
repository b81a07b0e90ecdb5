import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import type { Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..')

/** Of its description the program reads its version, and need not carry the rest (4 KB). */
export const keepVersionOnly: Plugin = {
  name: 'keep-version-only',
  setup(build) {
    const description = join(root, 'package.json')
    build.onLoad({ filter: /package\.json$/ }, async ({ path }) => {
      if (path !== description) return null
      const { version } = JSON.parse(await readFile(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
  },
}

/** undici's pool loads its HTTP/2 client (33 KB), which `src/providers/http.ts` disables. */
export const leaveOutHttp2: Plugin = {
  name: 'leave-out-http2',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/dispatcher\/client-h2\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('left out of the bundle') }",
    }))
  },
}

/**
 * `ws` comes with a stream around a WebSocket (2 KB) and with listeners as browsers have them (3 KB), which nothing here uses, and
 * compresses frames (7 KB, and 3 KB for what both sides say of it), which `src/providers/socket-peer.ts` disables.
 */
export const leaveOutSocketParts: Plugin = {
  name: 'leave-out-socket-parts',
  setup(build) {
    build.onLoad({ filter: /ws\/lib\/stream\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('left out of the bundle') }",
    }))
    build.onLoad({ filter: /ws\/lib\/event-target\.js$/ }, () => ({
      contents: `const leftOut = () => { throw new Error('left out of the bundle') }
      module.exports = { EventTarget: { addEventListener: leftOut, removeEventListener: leftOut } }`,
    }))
    build.onLoad({ filter: /ws\/lib\/extension\.js$/ }, () => ({
      contents: `const leftOut = () => { throw new Error('left out of the bundle') }
      module.exports = { format: leftOut, parse: leftOut }`,
    }))
    build.onLoad({ filter: /ws\/lib\/permessage-deflate\.js$/ }, () => ({
      contents: `module.exports = class {
        static extensionName = 'permessage-deflate'
        constructor() { throw new Error('left out of the bundle') }
      }`,
    }))
  },
}

/** Amazon's signer also signs single messages of a stream (4 KB), which are only read here. */
export const leaveOutMessageSigning: Plugin = {
  name: 'leave-out-message-signing',
  setup(build) {
    build.onLoad({ filter: /@smithy\/signature-v4\/.*\/HeaderFormatter\.js$/ }, () => ({
      contents: "export class HeaderFormatter { format() { throw new Error('left out of the bundle') } }",
    }))
  },
}

/** Amazon's signer carries a maker of UUIDs (1 KB) for platforms without `crypto.randomUUID`. */
export const leaveOutUuids: Plugin = {
  name: 'leave-out-uuids',
  setup(build) {
    build.onLoad({ filter: /@smithy\/core\/.*\/uuid\/v4\.js$/ }, () => ({
      contents: 'export const bindV4 = () => () => crypto.randomUUID()',
    }))
  },
}

/** undici can print what it does (NODE_DEBUG), which takes 4 KB; its channels, on which it tells others, stay. */
export const leaveOutUndiciLog: Plugin = {
  name: 'leave-out-undici-log',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/core\/diagnostics\.js$/ }, async ({ path }) => {
      const [channels = '', log] = (await readFile(path, 'utf8')).split('let isTrackingClientEvents')
      if (log === undefined) throw new Error(`${path} is not what it was`)
      return { contents: `${channels}module.exports = { channels }` }
    })
  },
}

/** undici carries its parser twice. The second (72 KB) is for processors without SSE 4.1, of before 2008, and for RISC-V. */
export const leaveOutSecondParser: Plugin = {
  name: 'leave-out-second-parser',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/llhttp\/llhttp-wasm\.js$/ }, () => ({
      contents: "throw new Error('this build has only the parser that uses SIMD: unset UNDICI_NO_WASM_SIMD')",
    }))
  },
}

/** undici carries its parser as Base64 (72 KB). Packed it is less than half of that, and unpacking takes a millisecond at the start. */
export const packParser: Plugin = {
  name: 'pack-parser',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/llhttp\/llhttp_simd-wasm\.js$/ }, ({ path }) => {
      const parser: unknown = createRequire(path)(path)
      if (!Buffer.isBuffer(parser)) throw new Error(`${path} is not what it was`)
      const packed = deflateRawSync(parser, { level: 9 }).toString('base64')
      return { contents: `module.exports = require('node:zlib').inflateRawSync(Buffer.from('${packed}', 'base64'))` }
    })
  },
}

/** Of the tables that come with undici's parser (12 KB, made anew in every thread) its client uses two. */
export const leaveOutParserTables: Plugin = {
  name: 'leave-out-parser-tables',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/llhttp\/constants\.js$/ }, async ({ path }) => {
      const client = await readFile(join(dirname(path), '../dispatcher/client-h1.js'), 'utf8')
      const used = new Set(Array.from(client.matchAll(/\bconstants\.([A-Z_]+)/g), ([, name = '']) => name))
      const tables: Record<string, unknown> = createRequire(path)(path)
      const kept = [...used].map((name) => [name, tables[name]])
      return { contents: `module.exports = ${JSON.stringify(Object.fromEntries(kept))}` }
    })
  },
}

/**
 * undici brings the core of its fetch along, 63 KB, for bodies of type FormData. A thread sends buffers and streams only, so the question
 * whether a body is such a form always has the answer no.
 */
export const leaveOutFetch: Plugin = {
  name: 'leave-out-fetch',
  setup(build) {
    const stubs: Readonly<Record<string, string>> = {
      'fetch/body.js': "module.exports = { extractBody() { throw new Error('left out of the bundle') } }",
      'fetch/formdata.js': 'module.exports = {}',
      'webidl/index.js': 'module.exports = { webidl: { is: { FormData: () => false } } }',
    }
    build.onLoad({ filter: /undici\/lib\/web\/(fetch\/(body|formdata)|webidl\/index)\.js$/ }, ({ path }) => ({
      contents: stubs[path.replace(/^.*\/web\//, '')] ?? '',
    }))
  },
}

/** Only HTTP proxies are supported, so undici's SOCKS agent is never used (src/config/proxies.ts, `checkProxy`). */
export const leaveOutSocks: Plugin = {
  name: 'leave-out-socks',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/dispatcher\/socks5-proxy-agent\.js$/ }, () => ({
      contents: "module.exports = class { constructor() { throw new Error('left out of the bundle') } }",
    }))
  },
}

/** better-sqlite3 can make tables and aggregates of functions in JavaScript (7 KB), and copies page by page or into memory (3 KB); the store has none. */
export const leaveOutSqliteTables: Plugin = {
  name: 'leave-out-sqlite-tables',
  setup(build) {
    build.onLoad({ filter: /better-sqlite3\/lib\/methods\/(table|aggregate|backup|serialize)\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('left out of the bundle') }",
    }))
  },
}

/**
 * Kysely's builders of what SQLite lacks (`merge`, schemas with names), of views, of `case` and of paths into JSON, which the store has
 * none of, and what writes values into an index's condition, where the store's migrations write SQL: 42 KB of text.
 */
export const leaveOutBuilders: Plugin = {
  name: 'leave-out-builders',
  setup(build) {
    const left = "{ constructor() { throw new Error('left out of the bundle') } }"
    build.onLoad({ filter: /kysely\/dist\/query-builder\/merge-query-builder\.js$/ }, () => ({
      contents: `export class MergeQueryBuilder ${left}`,
    }))
    build.onLoad({ filter: /kysely\/dist\/query-builder\/json-path-builder\.js$/ }, () => ({
      contents: `export class JSONPathBuilder ${left}`,
    }))
    build.onLoad({ filter: /kysely\/dist\/query-builder\/case-builder\.js$/ }, () => ({
      contents: `export class CaseBuilder ${left}`,
    }))
    build.onLoad({ filter: /kysely\/dist\/schema\/create-view-builder\.js$/ }, () => ({
      contents: `export class CreateViewBuilder ${left}`,
    }))
    build.onLoad({ filter: /kysely\/dist\/plugin\/immediate-value\/immediate-value-transformer\.js$/ }, () => ({
      contents: `export class ImmediateValueTransformer ${left}`,
    }))
    build.onLoad({ filter: /kysely\/dist\/plugin\/with-schema\/with-schema-plugin\.js$/ }, () => ({
      contents: `export class WithSchemaPlugin ${left}`,
    }))
  },
}

/**
 * Only a tenth of the packages that sign calls is used. esbuild can leave out the rest only from ES modules, but prefers the
 * CommonJS form when it bundles for Node.
 */
export const takeEsModules: Plugin = {
  name: 'take-es-modules',
  setup(build) {
    build.onResolve({ filter: /^@smithy\/[a-z0-9-]+$/ }, async ({ path, resolveDir, kind, pluginData }) => {
      if (pluginData === 'resolving') return
      const found = await build.resolve(path, { resolveDir, kind, pluginData: 'resolving' })
      const home = found.path.slice(0, found.path.lastIndexOf(path) + path.length)
      const { module } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
      return typeof module === 'string' ? { path: join(home, module), sideEffects: false } : found
    })
  },
}

/**
 * zod/mini is a tenth of zod, but is built on the same files: in a bundle that contains both, whoever uses the small one would
 * load most of the large one. So it gets its own copy of these files.
 */
export const keepSmallZodApart: Plugin = {
  name: 'keep-small-zod-apart',
  setup(build) {
    // Relative: the names of the bundle's pieces are made from these paths, and must not depend on where the project lies.
    const place = (path: string) => ({ path: relative(root, path), namespace: 'small-zod', sideEffects: false })
    build.onResolve({ filter: /^zod\/mini$/ }, async ({ path, ...rest }) => {
      if (rest.pluginData === 'resolving') return
      const found = await build.resolve(path, { ...rest, pluginData: 'resolving' })
      return place(found.path)
    })
    build.onResolve({ filter: /^\./, namespace: 'small-zod' }, ({ path, resolveDir }) => place(join(resolveDir, path)))
    build.onLoad({ filter: /./, namespace: 'small-zod' }, async ({ path }) => ({
      contents: await readFile(join(root, path), 'utf8'),
      resolveDir: dirname(join(root, path)),
    }))
  },
}

/** zod imports its messages in fifty languages; spgw needs one. */
export const leaveOutLocales: Plugin = {
  name: 'leave-out-locales',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
    }))
  },
}

/** commander can run separate programs as commands. spgw has none, and loading `node:child_process` takes a good part of a short command. */
export const leaveOutPrograms: Plugin = {
  name: 'leave-out-programs',
  setup(build) {
    build.onLoad({ filter: /commander\/lib\/command\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const loading = "import childProcess from 'node:child_process';"
      if (!text.includes(loading)) throw new Error('commander no longer imports node:child_process in this way')
      return { contents: text.replace(loading, 'const childProcess = {};') }
    })
  },
}

/** ink's developer tools use top-level `await`, and need a package that is not installed. */
export const leaveOutInkDevtools: Plugin = {
  name: 'leave-out-ink-devtools',
  setup(build) {
    build.onLoad({ filter: /ink\/build\/(reconciler|ink)\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll("process.env['DEV'] === 'true'", 'false'),
    }))
  },
}

/**
 * ink's layout engine waits for its WebAssembly at the top level, which no CommonJS can; the module is small enough to be
 * made at once. Emscripten fills the object that it is given, and lets its maker instantiate.
 */
export const makeYogaAtOnce: Plugin = {
  name: 'make-yoga-at-once',
  setup(build) {
    build.onLoad({ filter: /yoga-layout\/dist\/src\/index\.js$/ }, async ({ path }) => {
      const loader = await readFile(join(dirname(path), '../binaries/yoga-wasm-base64-esm.js'), 'utf8')
      const bytes = yogaBytes.exec(loader)?.[1]
      if (bytes === undefined) throw new Error('yoga-layout keeps its WebAssembly elsewhere now')
      return { contents: yogaMadeAtOnce(bytes) }
    })
    build.onLoad({ filter: /yoga-layout\/dist\/binaries\/yoga-wasm-base64-esm\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(yogaBytes, '"yoga.wasm"').replace('import.meta.url', '""'),
    }))
  },
}

const yogaBytes = /"data:application\/octet-stream;base64,([A-Za-z0-9+/=]+)"/

function yogaMadeAtOnce(base64: string): string {
  return `
    import loadYoga from '../binaries/yoga-wasm-base64-esm.js'
    import wrapAssembly from './wrapAssembly.js'
    const assembly = {
      instantiateWasm(imports, receive) {
        const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from('${base64}', 'base64')), imports)
        receive(instance)
        return instance.exports
      },
    }
    loadYoga(assembly)
    export default wrapAssembly(assembly)
    export * from './generated/YGEnums.js'
  `
}

/** The contract as the command line needs it, worked out now: deriving it from the schemas takes longer than a whole command may. */
export const deriveCatalog: Plugin = {
  name: 'derive-catalog',
  setup(build) {
    build.onLoad({ filter: /[\\/]cli[\\/]catalog\.ts$/ }, async () => {
      const { catalog } = await import('../cli/catalog.ts')
      // Parsing text is faster than running an object of that size.
      return { contents: `export const catalog = JSON.parse(${JSON.stringify(JSON.stringify(catalog))})` }
    })
  },
}
