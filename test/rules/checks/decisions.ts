import { basename } from 'node:path'
import type { Violation } from './modules.ts'
import type { Page } from './prose.ts'

/** `README.md` is the index; every other page is a decision. */
const index = 'docs/decisions/README.md'

/** The index has a row for each decision, in order, with its title and status, and a word on each number that is missing. */
export function checkDecisions(pages: Page[]): Violation[] {
  const found = pages.filter(({ path }) => path.startsWith('docs/decisions/'))
  const text = found.find(({ path }) => path === index)?.text ?? ''
  const decisions = found.filter(({ path }) => path !== index).sort((a, b) => (a.path < b.path ? -1 : 1))
  const numbers = decisions.map(({ path }) => basename(path).slice(0, 4))
  const rows = text.split('\n').filter((line) => /^\| \[/.test(line))
  const stray = rows.filter((row) => !decisions.some(({ path }) => row.includes(`](${basename(path)})`)))
  const isSorted = rows.every((row, at) => at === 0 || row > (rows[at - 1] ?? ''))
  return [
    ...decisions.flatMap((page) => checkDecision(page, rows)),
    ...numbers.filter((number, at) => numbers.indexOf(number) !== at).map((number) => `${number}: two decisions`),
    ...missing(numbers, text).map((number) => `${index}: not a word on the missing number ${number}`),
    ...stray.map((row) => `${index}: there is no page for ${row.slice(0, 60)}`),
    ...(isSorted ? [] : [`${index}: the rows are not in the order of their numbers`]),
  ]
}

function checkDecision({ path, text }: Page, rows: string[]): Violation[] {
  const name = basename(path)
  const number = name.slice(0, 4)
  const [, title] = new RegExp(`^# ${number}: (.+)\n`).exec(text) ?? []
  const [, plain, later] =
    /^Status: accepted \(\d{4}-\d\d-\d\d\)(?:()|, ((?:amended|superseded) by .+))\n/m.exec(text) ?? []
  if (title === undefined) return [`${path}: the first line is "# ${number}: Title"`]
  if (plain === undefined && later === undefined)
    return [
      `${path}: the third line is "Status: accepted (2026-11-21)", with ", amended by …" or ", superseded by …" behind it`,
    ]
  const row = `| [${number}](${name}) | ${title} | ${later ?? 'accepted'} | `
  return rows.some((one) => one.startsWith(row)) ? [] : [`${index}: no row begins with ${row}`]
}

/** Numbers below the last that no page has, and that the index names neither alone nor within `0035 to 0038`. */
function missing(numbers: string[], text: string): string[] {
  const named = [...text.matchAll(/\b(0\d{3})(?: to (0\d{3}))?/g)].map(
    ([, from = '', to = from]) => [from, to] as const,
  )
  return Array.from({ length: Number(numbers.at(-1) ?? 0) }, (_, at) => String(at + 1).padStart(4, '0'))
    .filter((number) => !numbers.includes(number))
    .filter((number) => !named.some(([from, to]) => from <= number && number <= to))
}
