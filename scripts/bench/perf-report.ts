import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sample } from './perf.ts'
import { renderTable } from './report.ts'

const root = join(import.meta.dirname, '../..')
const most = { groups: 30, symbols: 40 }

/** By what the symbols of V8, Node and its libraries begin with or hold; the first that fits. */
const kinds: readonly [group: string, pattern: RegExp][] = [
  [
    'garbage collection',
    /Scaveng|MarkCompact|Marking|Sweep|Evacuat|v8::internal::Heap\b|GCTracer|GarbageColl|heap::base|WriteBarrier|RecordWrite|Minor(GC|MS)|Ephemeron|Allocat(e|or).*Slow|SemiSpace|PagedSpace|MemoryChunk|Worklist/,
  ],
  ['JSON, by the engine', /Json/],
  [
    'compiling',
    /compiler::|maglev::|baseline::|turboshaft|Compil(er|ation)|interpreter::Bytecode|Parser(Base)?<|::Parser|Scanner|TurbolizerP|Deoptimiz|Tiering/,
  ],
  ['interpreted code', /Builtins_(Interpreter|BytecodeHandler|.*Handler$|Baseline)/],
  [
    'properties looked up slowly',
    /Builtins_.*IC(_|$|Trampoline|Baseline)|Megamorphic|::(Load|Store|Keyed\w*|Compare)IC\b|LookupIterator|TransitionsAccessor|StubCache/,
  ],
  ['promises and async functions', /Builtins_.*(Promise|Async|Generator|Microtask|Await)|Microtask|Promise/],
  ['strings', /String|simdutf|Utf8|Latin1|Builtins_.*(Regex|RegExp)/i],
  ['regular expressions', /RegExp|Regexp|irregexp/],
  ['engine’s builtins', /^Builtins_/],
  ['OpenSSL', /^(EVP|SHA|sha|aes|gcm|OPENSSL|CRYPTO|ossl|BN_|SSL|tls|bio_|BIO|EC|ecp)/i],
  ['HTTP parsers, and what skips large values', /llhttp|wasm/],
  ['SQLite', /sqlite3|better_sqlite|BtreeM|vdbe|pager|^wal[A-Z]/],
  [
    'memory by the C library',
    /malloc|_int_free|^free|cfree|realloc|calloc|operator (new|delete)|memmove|memcpy|memset|madvise/,
  ],
  ['libuv', /^uv_/],
  ['Node’s C++', /node::/],
  ['engine, other', /v8::/],
]

/** For each thread where its time on the processor went: by group, then by function. */
export function renderSamples(samples: readonly Sample[], microsOf: (thread: string) => number, unit: string): string {
  const threads = Map.groupBy(samples, ({ thread }) => thread)
  const busy = [...threads].filter(([thread]) => microsOf(thread) >= 0.5).sort(([a], [b]) => microsOf(b) - microsOf(a))
  return busy.map(([thread, own]) => renderThread(thread, own, microsOf(thread), unit)).join('\n\n')
}

function renderThread(thread: string, samples: readonly Sample[], micros: number, unit: string): string {
  const share = (predicate: (sample: Sample) => boolean) => samples.filter(predicate).length / samples.length
  const kernel = share(({ inKernel }) => inKernel)
  const collection = share((sample) => groupOf(sample) === 'garbage collection')
  const line =
    `${micros.toFixed(1)} µs a ${unit}: kernel ${percent(kernel)}, garbage collection ${percent(collection)}, ` +
    `the rest ${percent(1 - kernel - collection)} (${samples.length} samples)`
  const table = (title: string, of: (sample: Sample) => string, limit: number) => {
    const counted = [...Map.groupBy(samples, of)].map(([name, own]) => ({ name, share: own.length / samples.length }))
    const rows = counted.sort((a, b) => b.share - a.share).slice(0, limit)
    return renderTable(
      ['%', `µs a ${unit}`, title],
      rows.map(({ name, share }) => [(share * 100).toFixed(1), (share * micros).toFixed(2), name]),
    )
  }
  return [
    `## ${thread}, by perf`,
    line,
    table('group', groupOf, most.groups),
    table('function', nameOf, most.symbols),
  ].join('\n\n')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

/** Code of ours and of libraries by its place; the kernel by the system call; the rest by its kind. */
function groupOf({ symbol, inKernel, kernelCall }: Sample): string {
  if (inKernel) return kernelCall === '' ? 'kernel, elsewhere' : `kernel: ${kernelCall}`
  const place = placeOf(symbol)
  if (place !== null) return areaOf(place)
  return kinds.find(([, pattern]) => pattern.test(symbol))?.[0] ?? 'other'
}

function nameOf({ symbol, inKernel }: Sample): string {
  if (inKernel) return `${symbol} (kernel)`
  const place = placeOf(symbol)
  if (place === null) return symbol.length > 90 ? `${symbol.slice(0, 87)}…` : symbol
  return `${/^JS:\W*(.*?) \S+$/.exec(symbol)?.[1] ?? ''} ${place}`.trim()
}

/** `src/gateway/pipeline.ts:44`; null of what is no JavaScript. */
function placeOf(symbol: string): string | null {
  const [, url] = /^JS:.* ((?:file:|node:|\/)\S+?):\d+$/.exec(symbol) ?? []
  if (url === undefined) return null
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  return path.replace(`${root}${sep}`, '').replace(/^.*node_modules\//, '')
}

function areaOf(place: string): string {
  return place
    .replace(/:\d+$/, '')
    .split('/')
    .slice(0, 2)
    .join('/')
    .replace(/\/lib$/, '')
}
