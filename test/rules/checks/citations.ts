import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { root, type Violation } from './modules.ts'

/** A text that may cite documents. `isProse` says whether a place is prose (a comment, a page) or code. */
export interface CitingText {
  path: string
  text: string
  isProse(offset: number): boolean
}

const readable = /\.(?:ts|tsx|mjs|js|c|py|sh|service|yaml|css|html|md)$|^\.ci\//
/** Made from the code, or recorded from others. */
const notWritten = /^(?:docs\/reference\/|docs\/lanes\.md$|test\/fixtures\/)/

/** Every text in the repository that people write. */
export function readCitingTexts(): CitingText[] {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 64e6 }).split('\0')
  return tracked
    .filter((path) => readable.test(path) && !notWritten.test(path) && existsSync(join(root, path)))
    .map((path) => citingText(path, readFileSync(join(root, path), 'utf8')))
}

export function citingText(path: string, text: string): CitingText {
  if (!/\.tsx?$/.test(path)) return { path, text: joinLines(text), isProse: () => true }
  const { comments } = parseSync(path, text)
  const isProse = (offset: number) => comments.some(({ start, end }) => offset >= start && offset < end)
  return { path, text: joinLines(text), isProse }
}

/** A citation may go on in the next line: line breaks and the marks of comments become blanks, and offsets stay. */
function joinLines(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/|\*)|\/\/|#(?!#))?[ \t]*/g, (mark) => ' '.repeat(mark.length))
}

const list = String.raw`\d+(?:\.\d+)?(?:(?:, +| +and +| +to +)\d+(?:\.\d+)?\b)*`
const citation = new RegExp(
  String.raw`(?<![\w/.:-])((?:[\w.-]+/)*[\w-]+\.md)\b(?:\x60?,?(?: +(rules?|sections?)? *|( *§) *)(${list})|, +\x60([^\x60]+)\x60|, +([A-Z][a-z]+)(?=[.;,)\x60'"]|$))?`,
  'g',
)
const decision = /\b[Dd]ecisions? +(\d+(?:(?:, +| +and +)\d+\b)*)|\bdocs\/decisions\/(\d+)\b|\((00\d\d)\)/g
const nameless = /\b(?:contract|product|interface) +(?:rules?|sections?) +\d+/g

/** Every document, section, rule and decision that the texts cite exists. */
export function checkCitations(texts: CitingText[]): Violation[] {
  return texts.flatMap((source) => [...checkDocuments(source), ...checkDecisions(source)])
}

function checkDocuments(source: CitingText): Violation[] {
  const { path, text, isProse } = source
  const named = [...text.matchAll(citation)].flatMap((match) => {
    const [cited, document = '', word = '', mark, numbers = '', span, heading] = match
    // The text of a link; the link itself comes right after it.
    if (text.startsWith('](', match.index + document.length)) return []
    if (!isProse(match.index) && (!document.startsWith('docs/') || path.startsWith('test/rules/'))) return []
    const where = `${path}:${lineOf(source, match.index)}`
    const file = findDocument(document, path)
    if (file === null) return [`${where}: there is no document ${document}`]
    const page = readFileSync(join(root, file), 'utf8')
    if (numbers !== '' && word === '' && mark === undefined) return [`${where}: say "section" or "rule": ${cited}`]
    const places = numbers.match(/\d+(?:\.\d+)?/g) ?? []
    const isThere = word.startsWith('rule') ? hasRule : hasSection
    return [
      ...places.filter((place) => !isThere(page, place)).map((place) => `${where}: ${file} has no ${word} ${place}`),
      ...(span !== undefined && !page.includes(span) ? [`${where}: ${file} has no \`${span}\``] : []),
      ...(heading !== undefined && !hasHeading(page, heading) ? [`${where}: ${file} has no heading ${heading}`] : []),
    ]
  })
  const unnamed = [...text.matchAll(nameless)].filter(({ index }) => isProse(index))
  return [
    ...named,
    ...unnamed.map(({ 0: cited, index }) => `${path}:${lineOf(source, index)}: name the file: ${cited}`),
  ]
}

function checkDecisions(source: CitingText): Violation[] {
  const { path, text, isProse } = source
  return [...text.matchAll(decision)].flatMap((match) => {
    const [, listed, inPath, inBrackets] = match
    if (!isProse(match.index)) return []
    const where = `${path}:${lineOf(source, match.index)}`
    return ((listed ?? inPath ?? inBrackets ?? '').match(/\d+/g) ?? []).flatMap((number) => {
      const found = globSync(`docs/decisions/${number.padStart(4, '0')}-*.md`, { cwd: root }).length === 1
      return found ? [] : [`${where}: there is no decision ${number}`]
    })
  })
}

function lineOf({ path }: CitingText, offset: number): number {
  const file = join(root, path)
  return existsSync(file) ? readFileSync(file, 'utf8').slice(0, offset).split('\n').length : 1
}

/** Pages of the specification are cited by their short names; all else from the root, or from the page that cites. */
function findDocument(document: string, from: string): string | null {
  const beside = from.endsWith('.md') ? [posix.join(dirname(from), document)] : []
  const candidates = [...beside, document, posix.join('docs/spec', document)]
  return candidates.find((candidate) => existsSync(join(root, candidate))) ?? null
}

function hasSection(page: string, number: string): boolean {
  return page.split('\n').some((line) => /^#+ /.test(line) && /^#+ (\d+(?:\.\d+)?)(?=[. ])/.exec(line)?.[1] === number)
}

function hasRule(page: string, number: string): boolean {
  return page.split('\n').some((line) => line.startsWith(`${number}. `))
}

function hasHeading(page: string, title: string): boolean {
  return page.split('\n').some((line) => /^#+ /.test(line) && line.replace(/^#+ /, '').startsWith(title))
}
