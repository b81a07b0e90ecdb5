import { type FormatName, formatNames } from '../../../src/core/format.ts'
import type { Feature } from './features.ts'
import type { Outcome } from './run.ts'
import type { Upstream } from './upstreams.ts'

/** What became of the cases of a feature, by name. */
export interface CellResult {
  client: FormatName
  upstream: Upstream
  feature: Feature
  whole: readonly Outcome[]
  streamed: readonly Outcome[]
}

const clients: Readonly<Record<FormatName, string>> = {
  chat: 'OpenAI chat completions: `openai`, with `stream`, `parse` and `runTools`',
  responses: 'OpenAI responses: `openai`, with `responses.stream` and `responses.parse`',
  messages: 'Anthropic messages: `@anthropic-ai/sdk`, with `messages.stream` and `messages.parse`',
  generate: 'Gemini generateContent: `@google/genai`, with `generateContentStream`',
}

/** `docs/translation-matrix.md`, as the run gave it. */
export function writePage(
  results: readonly CellResult[],
  features: readonly Feature[],
  upstreams: readonly Upstream[],
) {
  const rowOf = (client: FormatName, feature: Feature) => {
    const cells = upstreams.map((upstream) => {
      const cell = results.find(
        (each) => each.client === client && each.upstream === upstream && each.feature === feature,
      )
      return cell === undefined ? 'untested' : writeCell(cell)
    })
    return `| ${feature.name} | ${cells.join(' | ')} |`
  }
  return [
    ...head,
    ...formatNames.flatMap((client) => [
      `## A client of ${client}`,
      '',
      `${clients[client]}.`,
      '',
      `| | ${upstreams.map(({ name }) => name).join(' | ')} |`,
      `|---|${upstreams.map(() => '---|').join('')}`,
      ...features.map((feature) => rowOf(client, feature)),
      '',
    ]),
    'This page is written by `npm run matrix`, and a test fails when a run gives another one.',
    '',
  ].join('\n')
}

const head = [
  '# What works between which formats',
  '',
  'Each cell was asked through a running gateway, whole and streamed: by the official SDK of the format, at a strict mock',
  'of the provider, which refuses what the real one refuses. Compared are what the provider got and what the SDK made of',
  'the answer. The SDKs for Python go through the same cells, where they are installed, and must find no fault either. How',
  'translation works: [translation.md](translation.md); every field: [its reference](reference/translation.md).',
  '',
  '- **✓**: all arrives, both ways. **=**: the same, as it came: it is the provider’s own format.',
  '- **lost**: these fields did not reach the provider, as `x-sp-lossy` says. `[]`: of a part in a list.',
  '- **refused**: `not_translatable` names this field, before anything is sent; *by the provider*: it passes as it came,',
  '  and the provider has no such field.',
  '- **–**: the client’s format has no such field.',
  '',
  'The features, each with all of its cases: text of several turns; system messages before and among the turns; images as',
  'data and by address; a PDF; a call of a tool and its result; three calls at once, and calls one by one; results that',
  'failed, with images, in the history; the four choices of tools; an answer that holds to a schema; reasoning that a',
  'provider signs and gets back with the next request; tools at the newest models (GPT-5.6, Claude Sonnet and Opus 5.5,',
  'Gemini 4) while they reason, forced, and without reasoning; marks of what to cache; stop sequences, sampling and the',
  'limit; how an answer ends and what it used; errors of the request, of the provider, and in the midst of a stream.',
  '',
]

function writeCell({ client, upstream, feature, whole, streamed }: CellResult): string {
  const done = client === upstream.format ? '=' : '✓'
  const [one, other] = [whole, streamed].map((outcomes) => writeOutcomes(feature, outcomes, done))
  // The one case that only a stream has adds nothing where it went well.
  if (one === other || one === '–') return other ?? ''
  return `${one}; streamed: ${other}`
}

function writeOutcomes(feature: Feature, outcomes: readonly Outcome[], done: string): string {
  if (outcomes.every(({ kind }) => kind === 'absent')) return '–'
  const notes = outcomes.flatMap(({ kind, names }, index) => {
    if (kind === 'pass' || kind === 'absent') return []
    const shown = [...new Set(names.map((name) => name.replaceAll(/\[\d+\]/g, '[]')))].map((name) => `\`${name}\``)
    const words = kind === 'loss' ? `lost ${shown.join(', ')}` : `refused ${names.join().replace(/.*: (.*)/, '`$1`')}`
    const name = feature.cases[index]?.name ?? ''
    return [name === '' ? words : `${name}: ${words}`]
  })
  return notes.length === 0 ? done : notes.join('; ')
}
