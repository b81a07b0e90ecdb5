import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** Set by the bundler: the page's files then lie beside the main bundle. */
declare const __BUNDLED__: boolean | undefined

export interface AppFile {
  type: string
  /** What `content-encoding` calls it; null: as it is. */
  encoding: 'br' | 'gzip' | null
  body: Buffer
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}
const forms = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/**
 * The files of the page that were built, by address. Only what was found there when it was first asked for is ever opened:
 * no path that somebody sends reaches the file system.
 */
export class AppFiles {
  readonly #directory: string
  readonly #names: ReadonlySet<string>

  constructor(directory = appDirectory()) {
    this.#directory = directory
    this.#names = new Set([...list(directory), ...list(join(directory, 'assets')).map((name) => `assets/${name}`)])
  }

  get built(): boolean {
    return this.#names.has('index.html')
  }

  /** `name`: `index.html`, `assets/app-3F2K.js`; null: there is none, or it is a form of another. */
  read(name: string, accepted: string): AppFile | null {
    const type = types[extname(name)]
    if (type === undefined || !this.#names.has(name)) return null
    const [encoding, ending] = forms.find(([word, end]) => accepts(accepted, word) && this.#names.has(name + end)) ?? [
      null,
      '',
    ]
    return { type, encoding, body: readFileSync(join(this.#directory, name + ending)) }
  }
}

function accepts(header: string, encoding: string): boolean {
  return header
    .toLowerCase()
    .split(',')
    .some((each) => new RegExp(`^ *${encoding} *(; *q *= *(1|0?\\.\\d*[1-9]).*)?$`).test(each))
}

function list(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).map(String) : []
}

/** Run from the sources, it is what was built last. */
function appDirectory(): string {
  if (typeof __BUNDLED__ !== 'undefined' && __BUNDLED__) return join(import.meta.dirname, 'console')
  return join(import.meta.dirname, '../../.build/bundle/console')
}
