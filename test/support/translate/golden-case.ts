import { type FormatName, formatNames } from '../../../src/core/format.ts'
import { parseLossless } from '../../../src/translate/json.ts'

export interface GoldenCase {
  title: string
  from: FormatName
  to: FormatName
  settings: ReadonlyMap<string, string>
  /** By their names, without the blank lines around them. */
  sections: ReadonlyMap<string, string>
}

export const sectionNames = [
  'request in',
  'request out',
  'losses',
  'refused',
  'answer in',
  'rest asked',
  'rest in',
  'answer out',
  'error in',
  'error out',
] as const
const settingNames = [
  'model',
  'strict',
  'compatible',
  'vertex',
  'bedrock',
  'logprobs',
  'reasoning content',
  'max output',
  'output cap',
  'streamed',
  'reasoning text',
  'extra content',
  'cut',
]

export function parseGolden(text: string): GoldenCase {
  const [head = '', ...blocks] = text.split(/^== /m)
  const lines = head.split('\n').filter((line) => line.trim() !== '')
  const title = lines.find((line) => line.startsWith('# '))?.slice(2) ?? 'no title'
  const settings = new Map(
    lines
      .filter((line) => !line.startsWith('#'))
      .map((line): [string, string] => {
        const [name = '', ...rest] = line.split(':')
        return [name.trim(), rest.join(':').trim()]
      }),
  )
  const sections = new Map(
    blocks.map((block): [string, string] => {
      const end = block.indexOf('\n')
      return [block.slice(0, end).trim(), block.slice(end + 1).replace(/^\n+|\s+$/g, '')]
    }),
  )
  for (const name of settings.keys()) {
    if (!['from', 'to', ...settingNames].includes(name)) throw new Error(`${title}: there is no setting ${name}`)
  }
  for (const name of sections.keys()) {
    if (!sectionNames.some((known) => known === name)) throw new Error(`${title}: there is no section ${name}`)
  }
  return { title, from: formatOf(settings.get('from')), to: formatOf(settings.get('to')), settings, sections }
}

function formatOf(name: string | undefined): FormatName {
  const format = formatNames.find((known) => known === name)
  if (format === undefined) throw new Error(`${name} is no format`)
  return format
}

/** The case with other sections, in the order in which they are read. */
export function writeGolden(text: string, sections: ReadonlyMap<string, string>): string {
  const [head = ''] = text.split(/^== /m)
  const written = sectionNames.flatMap((name) => {
    const section = sections.get(name)
    return section === undefined ? [] : [`== ${name}\n${section}\n`]
  })
  return `${head.trimEnd()}\n\n${written.join('\n')}`
}

/** JSON as people read it: an object or list on one line where it fits. */
export function showJson(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')
  const isRaw = typeof value === 'object' && value !== null && Object.isFrozen(value)
  if (typeof value !== 'object' || value === null || isRaw || flat.length + indent.length <= 110) return flat
  const inner = `${indent}  `
  const members = Array.isArray(value)
    ? value.map((element) => `${inner}${showJson(element, inner)}`)
    : Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${showJson(member, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${members.join(',\n')}\n${indent}${close}`
}

/** Without white space, so that only what is said is compared, in its order. */
export function sameJson(text: string): string {
  const value = parseLossless(text)
  return value === undefined ? text : JSON.stringify(value)
}
