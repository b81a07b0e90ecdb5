import type { z } from 'zod'
import { triedRulesShape } from '../../src/admin/contract/policies/policies.ts'
import { escapeControls } from '../../src/admin/contract/show-value.ts'
import type { View } from './view.ts'

const tones = { block: 'bad', redact: 'warning', flag: 'warning' } as const

/** `policies try`: each match with its rule and place, then what becomes of the text. */
export function renderTriedRules(output: unknown, { paint }: Pick<View, 'paint'>): string {
  const { matches, given, text, on } = triedRulesShape.parse(output)
  const lines = matches.map((match) => describeMatch(match, given, paint))
  if (matches.length === 0) lines.push(paint('good', `No rule finds anything in this ${on}.`))
  else if (text === null) lines.push('', paint('bad', `This ${on} would be blocked.`))
  else lines.push('', paint('strong', text === given ? 'Text, unchanged' : 'Text after redaction'), escapeLines(text))
  return `${lines.join('\n')}\n`
}

function describeMatch(
  { rule, kind, action, start, end }: z.infer<typeof triedRulesShape>['matches'][number],
  given: string,
  paint: View['paint'],
): string {
  const found = `${kind ?? 'match of its pattern'} ${JSON.stringify(given.slice(start, end))}`
  return `${paint(tones[action], action.padEnd(6))}  ${escapeControls(`${rule}: ${found} at ${start} to ${end}`)}`
}

const escapeLines = (text: string) => text.split('\n').map(escapeControls).join('\n')
