import type { RequestRecord } from './record.ts'

/** Of a connection whose turns asked several models: what its record sums up has no single price. */
export const severalModels = ['turns', 'Its turns asked several models.'] as const

/** The same of one answer. */
export const modelsBeside = [severalModels[0], 'Other models worked for its answer, too.'] as const

/** Of an answer that costs nothing, whatever its tokens would. */
export const uncharged = [
  'refusal',
  'The provider declined before its model wrote anything, and charges nothing for that.',
] as const

export function isUncharged({ routing_signals }: Pick<RequestRecord, 'routing_signals'>): boolean {
  return routing_signals.some(({ rule }) => rule === uncharged[0])
}

export function askedSeveralModels({ routing_signals }: Pick<RequestRecord, 'routing_signals'>): boolean {
  return routing_signals.some(({ rule }) => rule === severalModels[0])
}
