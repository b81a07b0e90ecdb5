import { type FormatName, formatNames } from '../src/core/format.ts'
import { conditionOf } from '../src/translate/depends.ts'
import { geminiEmbeddingFields, openaiEmbeddingFields } from '../src/translate/embeddings/fields.ts'
import type { Fate, FieldRow, FieldTable } from '../src/translate/field-table.ts'
import { losses } from '../src/translate/losses.ts'

const titles: Readonly<Record<FormatName, string>> = {
  chat: 'OpenAI chat completions',
  responses: 'OpenAI responses',
  messages: 'Anthropic messages',
  generate: 'Gemini generateContent',
}

const shown: Readonly<Record<Fate, string>> = {
  kept: '',
  mapped: '',
  ignored: '',
  approximated: 'changed',
  dropped: 'lost',
  refused: '**refused**',
}

/** `docs/reference/translation.md`, made from the one table of losses. */
export function translationReference(): string {
  return [
    '# What translation loses',
    '',
    'What becomes of each field of a request when its provider has another format. *Lost* and *changed* fields are named in',
    'the header `x-sp-lossy` and on the record; on a strict route they refuse the target. *Refused* ones would change what',
    'the answer means, and always do. *Depends*: the field arrives, but not with every model, server or value. An empty cell:',
    'the field arrives with its meaning, or has none for the answer. Fields without a row arrive everywhere; a field that no',
    'format documents is lost. How translation works: [translation.md](../translation.md).',
    '',
    ...formatNames.flatMap(section),
    ...vectorSection('OpenAI `/embeddings` at Gemini', openaiEmbeddingFields),
    ...vectorSection('Gemini embedContent and batchEmbedContents at OpenAI', geminiEmbeddingFields),
    'This page is generated from the tables in `src/translate/` by `npm run reference`.',
    '',
  ].join('\n')
}

function section(from: FormatName): string[] {
  const targets = formatNames.filter((format) => format !== from)
  const cellOf = (field: string, row: FieldRow, to: FormatName) =>
    shown[fateAt(row, to)] || (conditionOf(from, field, to) === null ? '' : 'depends')
  const rows = Object.entries(losses[from]).filter(([field, row]) =>
    targets.some((to) => cellOf(field, row, to) !== ''),
  )
  return [
    `## From ${from} (${titles[from]})`,
    '',
    `| field | ${targets.join(' | ')} | why |`,
    `|---|${targets.map(() => '---|').join('')}---|`,
    ...rows.map(
      ([field, row]) =>
        `| \`${field}\` | ${targets.map((to) => cellOf(field, row, to)).join(' | ')} | ${whyOf(from, field, row, targets).replaceAll('|', '\\|')} |`,
    ),
    '',
  ]
}

/** Why it is lost, and on what it depends at which targets. */
function whyOf(from: FormatName, field: string, row: FieldRow, targets: readonly FormatName[]): string {
  const arriving = targets.filter((to) => shown[fateAt(row, to)] === '')
  const conditions = new Map<string, FormatName[]>()
  for (const to of arriving) {
    const condition = conditionOf(from, field, to)
    if (condition !== null) conditions.set(condition, [...(conditions.get(condition) ?? []), to])
  }
  const said = [...conditions].map(([condition, at]) =>
    at.length === targets.length ? condition : `${at.join(', ')}: ${condition}`,
  )
  return [...(row.why !== undefined && arriving.length < targets.length ? [row.why] : []), ...said].join('; ')
}

/** Calls for vectors have one other format each. Members of a batch are those of a single request. */
function vectorSection(title: string, table: FieldTable): string[] {
  const rows = Object.entries(table).filter(([field, { why }]) => why !== undefined && !field.startsWith('requests.'))
  return [
    `## From ${title}`,
    '',
    '| field | | why |',
    '|---|---|---|',
    ...rows.map(([field, { otherwise, why }]) => `| \`${field}\` | ${shown[otherwise]} | ${why ?? ''} |`),
    '',
  ]
}

function fateAt({ to, otherwise }: FieldRow, target: FormatName): Fate {
  return to?.[target] ?? otherwise
}
