import { type ContentRule, type ContentSide, detectorsOf } from '../../core/policies/content-rules.ts'
import { nextTurn } from '../../core/threads/slices.ts'
import { detectorSeeker } from './growing.ts'
import { joinSeekers, type PatternEngine, type Seeker } from './seeker.ts'

/** The content rules of one policy. */
export interface ContentPolicy {
  policy: string
  rules: readonly ContentRule[]
  /** Content that its rules cannot read is denied. Absent: it passes, and the record says so. */
  deniesUnseen?: boolean
}

/** A rule that is ready to be used. */
export interface ReadyRule {
  policy: string
  rule: ContentRule
  seeker: Seeker
}

/** The rules, by the side that they apply to. */
export interface ReadyRules extends Readonly<Record<ContentSide, readonly ReadyRule[]>> {
  /** A form that occurs in every JSON document in which the rules find something: `Seeker.inJson`. */
  readonly inJson: Readonly<Record<ContentSide, RegExp | null>>
}

const ready = new WeakMap<readonly ContentPolicy[], Promise<ReadyRules>>()

/** Compiled once for each set of policies. `patterns` is given if a rule has a pattern. */
export function readyRules(
  policies: readonly ContentPolicy[],
  patterns: Promise<PatternEngine> | null,
): Promise<ReadyRules> {
  return ready.getOrInsertComputed(policies, () => makeReady(policies, patterns))
}

async function makeReady(
  policies: readonly ContentPolicy[],
  patterns: Promise<PatternEngine> | null,
): Promise<ReadyRules> {
  const engine = await patterns
  const all: ReadyRule[] = []
  for (const { policy, rules } of policies)
    for (const rule of rules) {
      all.push({ policy, rule, seeker: seekerOf(rule, engine) })
      // Compiling a pattern takes some time, so other work gets a turn.
      if (rule.pattern !== null) await nextTurn()
    }
  const on = (side: ContentSide) => all.filter(({ rule }) => rule.on.includes(side))
  const [prompt, answer] = [on('prompt'), on('answer')]
  return { prompt, answer, inJson: { prompt: inJson(prompt), answer: inJson(answer) } }
}

/** For no rules: a form that matches nothing. */
function inJson(rules: readonly ReadyRule[]): RegExp | null {
  const { inJson: form } = joinSeekers(rules.map(({ seeker }) => seeker))
  return form === null ? null : new RegExp(form === '' ? '(?!)' : form)
}

function seekerOf({ detector, pattern, longest }: ContentRule, engine: PatternEngine | null): Seeker {
  if (pattern === null) return joinSeekers((detectorsOf(detector ?? '') ?? []).map(detectorSeeker))
  try {
    if (engine === null) throw new Error('the engine for patterns is not loaded')
    return engine.patternSeeker(pattern, longest)
  } catch (error) {
    return failing(error)
  }
}

/** The rule could not be compiled, and what it would find is unknown: nothing passes it. */
function failing(error: unknown): Seeker {
  const fail = () => {
    throw error
  }
  return { find: fail, growingFrom: fail, rest: null, inJson: null }
}

const labels: Readonly<Record<string, string>> = {
  'gateway key': 'KEY',
  'provider key': 'KEY',
  token: 'TOKEN',
  'private key': 'PRIVATE_KEY',
  'email address': 'EMAIL',
  'phone number': 'PHONE',
  'card number': 'CARD',
  IBAN: 'IBAN',
}

/** The label in placeholders: what a detector found, else the rule's name. */
export function labelOf({ name }: ContentRule, note: string): string {
  return labels[note] ?? name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
}
