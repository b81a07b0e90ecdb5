import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const pages = { bench: 'performance', soak: 'performance', hostile: 'reliability' } as const

/** Puts the result between its marks in its page. Throws when the marks are gone. */
export async function writeDocument(name: keyof typeof pages, title: string, tables: readonly string[]): Promise<void> {
  const path = join(import.meta.dirname, `../../docs/${pages[name]}.md`)
  const marks = [`<!-- ${name}: written by \`npm run ${name} -- --write\` -->`, `<!-- /${name} -->`] as const
  const text = await readFile(path, 'utf8')
  const from = text.indexOf(marks[0])
  const to = text.indexOf(marks[1])
  if (from < 0 || to < from) throw new Error(`${path} has lost the marks between which the figures of ${name} stand`)
  const figures = [marks[0], `Measured ${title}.`, ...tables].map(foldLines).join('\n\n')
  await writeFile(path, `${text.slice(0, from)}${figures}\n\n${text.slice(to)}`)
}

/** Prose in docs/ keeps to 120 characters a line; tables do not. */
function foldLines(text: string): string {
  return text.startsWith('|') ? text : text.replace(/(?=.{121})(.{1,120}) +/g, '$1\n')
}
