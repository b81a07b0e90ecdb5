import type { FormatName } from '../core/format.ts'

/**
 * What becomes of a member at a target of another format. `kept`: it says the same there. `mapped`: by another name or form, with the
 * same meaning. `approximated` and `dropped`: a loss. `refused`: its loss would change the meaning or the safety of the answer.
 * `ignored`: it has no effect on the answer, and nothing is said.
 */
export type Fate = 'kept' | 'mapped' | 'approximated' | 'dropped' | 'refused' | 'ignored'

export interface FieldRow {
  /** By target. A target that is not named: `otherwise`. */
  to?: Partial<Record<FormatName, Fate>>
  otherwise: Fate
  /** For refusals and the page of losses: why, as half a sentence. */
  why?: string
  /** Values that ask for nothing, so that losing them is no loss (`n: 1`). Null is always one. */
  harmless?: readonly unknown[]
  /** Where it is another than that of the name (`member-types.ts`); '': any. */
  type?: string
}

/** Every member of a format's requests, by its path without indexes (`tools.function.strict`). */
export type FieldTable = Readonly<Record<string, FieldRow>>

export const mapped: FieldRow = { otherwise: 'mapped' }
export const dropped: FieldRow = { otherwise: 'dropped' }
export const ignored: FieldRow = { otherwise: 'ignored' }

/** Arrives, and has another type than its name says. */
export function typed(type: string): FieldRow {
  return { ...mapped, type }
}

export function refused(why: string, harmless?: readonly unknown[]): FieldRow {
  return { otherwise: 'refused', why, ...(harmless && { harmless }) }
}

/** Of what the model thinks, where a client asks to see it. */
export const shownUnasked = "listed at OpenAI's chat, which shows none; others show it unasked"

/** Of probabilities of tokens, which all formats have but Anthropic's. */
export const logprobsRow = {
  to: { messages: 'refused' },
  otherwise: 'mapped',
  why: 'it gives no probabilities of tokens',
} as const satisfies FieldRow

/** Of texts at which an answer ends, which OpenAI's Responses do not have. */
export const stopRow = {
  to: { responses: 'refused' },
  otherwise: 'mapped',
  harmless: [[], ['']],
  why: 'without its stop sequences the answer would go on',
} as const satisfies FieldRow

/** The same rows below another member. */
export function below<const Prefix extends string, Rows extends FieldTable>(prefix: Prefix, rows: Rows) {
  const named = Object.entries(rows).map(([name, row]) => [`${prefix}.${name}`, row])
  return Object.fromEntries(named) as { [Name in keyof Rows & string as `${Prefix}.${Name}`]: FieldRow }
}
