import type { FormatName } from '../core/format.ts'

/**
 * What becomes of a member at a target of another format. `kept`: it means the same there. `mapped`: it has another name or form with the
 * same meaning. `approximated` and `dropped`: a loss. `refused`: its loss would change the meaning or the safety of the answer. `ignored`:
 * it does not affect the answer, and its loss is not reported.
 */
export type Fate = 'kept' | 'mapped' | 'approximated' | 'dropped' | 'refused' | 'ignored'

export interface FieldRow {
  /** By target; `otherwise` for targets that are not listed. */
  to?: Partial<Record<FormatName, Fate>>
  otherwise: Fate
  /** Why, as half a sentence, for refusals and the page of losses. */
  why?: string
  /** Values that ask for nothing, so that dropping them is no loss (`n: 1`). Null is always one. */
  harmless?: readonly unknown[]
  /** The member's type, if it is not the usual one for the name (`member-types.ts`); '': any. */
  type?: string
}

/** Every member of a format's requests, by its path without indexes (`tools.function.strict`). */
export type FieldTable = Readonly<Record<string, FieldRow>>

export const mapped: FieldRow = { otherwise: 'mapped' }
export const dropped: FieldRow = { otherwise: 'dropped' }
export const ignored: FieldRow = { otherwise: 'ignored' }

/** Arrives, but has another type than usual for its name. */
export function typed(type: string): FieldRow {
  return { ...mapped, type }
}

export function refused(why: string, harmless?: readonly unknown[]): FieldRow {
  return { otherwise: 'refused', why, ...(harmless && { harmless }) }
}

/** For reasoning, if a client asks to see it. */
export const shownUnasked = "listed at OpenAI's chat, which shows none; others show it unasked"

/** For temperature and `top_p`. */
export const samplingRow: FieldRow = { ...mapped, why: 'dropped for models that refuse it' }

/** For efforts of reasoning. */
export const effortRow: FieldRow = { ...mapped, why: 'as the nearest that the model has' }

/** For a vendor's own search for tools. */
export const vendorSearch = {
  otherwise: 'approximated',
  why: 'all tools are available from the beginning',
} as const satisfies FieldRow

/** For token probabilities, which all formats except Anthropic's have. */
export const logprobsRow = {
  to: { messages: 'refused' },
  otherwise: 'mapped',
  why: 'it gives no probabilities of tokens',
} as const satisfies FieldRow

/** For stop sequences, which OpenAI's Responses do not have. */
export const stopRow = {
  to: { responses: 'refused' },
  otherwise: 'mapped',
  harmless: [[], ['']],
  why: 'without its stop sequences the answer would continue',
} as const satisfies FieldRow

/** The same rows below another member. */
export function below<const Prefix extends string, Rows extends FieldTable>(prefix: Prefix, rows: Rows) {
  const named = Object.entries(rows).map(([name, row]) => [`${prefix}.${name}`, row])
  return Object.fromEntries(named) as { [Name in keyof Rows & string as `${Prefix}.${Name}`]: FieldRow }
}
