import type { RequestRecord } from './record.ts'

/** For a connection whose turns asked several models: no single price applies to its sums. */
export const severalModels = ['turns', 'Its turns asked several models.'] as const

/** The same for one answer. */
export const modelsBeside = [severalModels[0], 'Other models worked for its answer, too.'] as const

/** For an answer that costs nothing, whatever its tokens. */
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
