import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { listOperations } from '../../../src/admin/contract/operations.ts'
import { root, type Violation } from './modules.ts'

export interface Page {
  /** From the root of the project. */
  path: string
  text: string
}

/** Every page that people write; pages made from the code are held to it by a test of their own. */
export function readPages(): Page[] {
  const made = /^docs\/(?:reference\/|lanes\.md$)/
  const paths = ['*.md', 'docs/**/*.md', 'examples/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }))
  const written = paths.filter((path) => !made.test(path)).sort()
  return written.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The specification names what is yet to be built, so only the other pages are held to the names in the source. */
export function isSpecification({ path }: Page): boolean {
  return path.startsWith('docs/spec/')
}

const fence = /^```[\s\S]*?^```/gm

/** Text in backticks outside of fenced blocks. */
function quoted(page: Page): string[] {
  const prose = page.text.replace(fence, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner)
}

/** A path with a placeholder in it names a family of files: one of them is enough. */
export function checkPaths(pages: Page[]): Violation[] {
  return pages.flatMap((page) =>
    quoted(page)
      .filter((text) => /^(src|cli|tui|test|scripts|docs|examples|wasm)\/[\w./<>-]*$/.test(text))
      .filter((path) => globSync(path.replace(/<\w+>/g, '*'), { cwd: root }).length === 0)
      .map((path) => `${page.path}: there is no ${path}`),
  )
}

export function checkLinks(pages: Page[]): Violation[] {
  return pages.flatMap((page) =>
    [...page.text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (target.includes('://')) return []
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page.path : posix.join(dirname(page.path), file)
      if (!existsSync(join(root, path))) return [`${page.path}: there is no ${target}`]
      const found = anchor === undefined || anchorsOf(readFileSync(join(root, path), 'utf8')).includes(anchor)
      return found ? [] : [`${page.path}: there is no heading ${target}`]
    }),
  )
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** `name()` is declared as a function or a method somewhere, `Name` as a class or type, in the given source text. */
export function checkNames(pages: Page[], source: string): Violation[] {
  const declared = listDeclared(source)
  return pages.flatMap((page) =>
    quoted(page)
      .filter((text) => !isDeclared(text, declared))
      .map((name) => `${page.path}: the code has no ${name}`),
  )
}

interface Declared {
  callables: Set<string | undefined>
  types: Set<string | undefined>
}

/** In one pass: the source is long, and the names are many. */
function listDeclared(source: string): Declared {
  // Declared, stated in an interface, or a property that holds a function: what is only called would be `x.name(`.
  const callables = source.matchAll(/(?:function\*? |const |^ *(?:async )?)([a-z]\w*)\b(?= *[(=:<,])/gm)
  // A component is a function with a name like a type's.
  const types = source.matchAll(/\b(?:class|interface|type|function) ([A-Z]\w+)\b/g)
  const namesOf = (found: Iterable<RegExpExecArray>) => new Set([...found].map(([, name]) => name))
  return { callables: namesOf(callables), types: namesOf(types) }
}

/** Words that look like types of ours and are not. */
const foreign = ['Authorization', 'Bearer']

function isDeclared(text: string, { callables, types }: Declared): boolean {
  const callable = /^([a-z]\w*)\(\)$/.exec(text)?.[1]
  if (callable !== undefined) return callables.has(callable)
  return !/^[A-Z][a-z]\w+$/.test(text) || foreign.includes(text) || types.has(text)
}

const longestLine = 120

/** Lines of prose fit a screen: tables, code and what has no place to break (one link, one code span) may be longer. */
export function checkLines(pages: Page[]): Violation[] {
  return pages.flatMap(({ path, text }) => {
    const prose = text.replace(fence, (block) => block.replace(/[^\n]/g, ''))
    return prose.split('\n').flatMap((line, index) => {
      const isLong = [...line].length > longestLine
      return isLong && canBreak(line) ? [`${path}:${index + 1}: more than ${longestLine} characters`] : []
    })
  })
}

function canBreak(line: string): boolean {
  if (/^\s*\||^ {4}(?! *(?:[-*]|\d+\.) )|^#/.test(line)) return false
  const words = line.replace(/`[^`]+`/g, 'code').replace(/\[[^\]]+\]\([^)\s]+\)/g, 'link')
  return /\s/.test(words.trim().replace(/^(?:[-*+>]|\d+[.)])\s+/, ''))
}

/** `spgw AREA VERB` with the words of the contract, in prose and in examples alike. */
export function checkCommands(pages: Page[], local: readonly string[]): Violation[] {
  const names = listOperations().flatMap(({ path, meta }) => [
    path.join(' '),
    ...(meta.aliases ?? []).map((alias) => [...path.slice(0, -1), alias].join(' ')),
  ])
  const known = [...local, ...names]
  return pages.flatMap((page) =>
    [...quoted(page), ...(page.text.match(fence) ?? [])].flatMap((text) =>
      [...text.matchAll(/(?:^|sudo |[$(|] *)spgw ([a-z]+(?: [a-z]+(?:-[a-z]+)*)*)/gm)].flatMap(([, words = '']) => {
        const said = words.split(' ')
        const fits = known.some((name) => name.split(' ').every((word, index) => said[index] === word))
        return fits ? [] : [`${page.path}: there is no command spgw ${words}`]
      }),
    ),
  )
}
