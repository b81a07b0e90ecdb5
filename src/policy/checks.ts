import { AddressSet } from '../addresses/address-set.ts'
import { type CaptureMode, captureModes } from '../core/capture.ts'
import { fillPrice, type ModelPrice } from '../core/cost/model-price.ts'
import { type Fault, fault } from '../core/errors.ts'
import { compilePattern, isExact, matchesPattern, type Pattern } from '../core/pattern.ts'
import { denyRules } from '../core/policies/content-rules.ts'
import { isOpen, nextOpening, parseOpening } from '../core/policies/opening.ts'
import type { PolicyRules, RuleName } from '../core/policies/policy-rules.ts'
import type { Signal } from '../core/record.ts'
import { flatText } from '../core/text/flat-text.ts'
import { quote } from '../core/text/quote.ts'
import { describeSize, formatDuration } from '../core/units.ts'
import { minuteOfWeek } from './calendar.ts'
import type { ContentPolicy } from './content/compile.ts'

/** What one rule of one policy says about a request. */
export interface RuleVerdict {
  fault: Fault | null
  signal: Signal
}

/** A verdict that depends on the name alone, so it can be remembered by name. */
export type NameCheck = (name: string) => RuleVerdict

/** Known before any of the body is read. */
export interface SourceFacts {
  /** null: it has no address; undefined: nobody has sent anything yet (a preview). */
  address: string | null | undefined
  /** Epoch milliseconds. */
  now: number
  /** The workspace's. */
  timeZone: string
}

export type SourceCheck = (facts: SourceFacts) => RuleVerdict

export interface BodyLimit {
  bytes: number
  policy: string
  /** The text for a body within the limit. */
  within: string
}

export interface OutputLimit {
  /** Output tokens. */
  most: number
  policy: string
  /** Whether a request that allows more is capped instead of rejected. */
  caps: boolean
}

/** A policy's rule for models without a price. */
export interface UnpricedRule {
  policy: string
  denies: boolean
  /** The price charged for them; null: none. */
  price: ModelPrice | null
}

/** `overrules`: other policies that apply would capture more. */
export type CaptureChoice = (overrules: boolean) => { mode: CaptureMode; signal: Signal }

/** How long captured bodies are kept at most, and the text for the record. */
export interface BodiesRetention {
  ms: number
  signal: Signal
}

/** One rule of one policy, prepared for requests that have what it checks. */
export interface PreparedCheck {
  source?: SourceCheck
  lane?: NameCheck
  model?: NameCheck
  body?: BodyLimit
  output?: OutputLimit
  unpriced?: UnpricedRule
  content?: ContentPolicy
  capture?: CaptureChoice
  bodiesRetention?: BodiesRetention
}

/** How a rule is checked. `prepare` runs once for each policy of a snapshot that sets the rule. */
export interface RuleCheck<Value> {
  strictest: Strictest<Value>
  /** `rules`: the policy's other rules, for rules that depend on each other. */
  prepare(value: Value, policy: string, rules: Partial<PolicyRules>): PreparedCheck
}

/**
 * Which value applies if several policies set the rule. `each`: every value, so that a request must pass them all. Otherwise the stricter
 * of two, in any order.
 */
export type Strictest<Value> = 'each' | { of(one: Value, other: Value): Value }

/** The list leaves out what a policy denies. */
const another = ". Use one of the gateway's model list, or ask the operator."

/** Counters keep these: `limits/find-limits.ts`. */
const counted = { strictest: 'each', prepare: () => ({}) } as const

/** A row for each rule of `core/policies/policy-rules.ts`, in the order in which they are checked. */
export const ruleChecks: { readonly [Name in RuleName]: RuleCheck<NonNullable<PolicyRules[Name]>> } = {
  rpm: counted,
  tpm: counted,
  concurrency: counted,
  budgetUsdDay: counted,
  budgetUsdMonth: counted,
  budgetTokensDay: counted,
  budgetTokensMonth: counted,
  onBudget: counted,
  per: counted,
  addresses: {
    strictest: 'each',
    prepare(networks, policy) {
      const allowed = new AddressSet(networks)
      // The text does not contain the address: the operator decides whether records have it.
      const some = flatText('The policy ', policy, ' allows certain addresses of clients only.')
      const good = flatText('The policy ', policy, " allows the client's address.")
      const bad = flatText('The policy ', policy, " does not allow the client's address; ask the operator.")
      return {
        source({ address }) {
          if (address === undefined) return pass('address', some, { policy, addresses: networks.join(' ') })
          const isAllowed = address !== null && allowed.has(address)
          return isAllowed ? pass('address', good, { policy }) : deny('address', bad, { policy })
        },
      }
    },
  },
  hours: {
    strictest: 'each',
    prepare(hours, policy) {
      const openings = hours.flatMap((text) => parseOpening(text) ?? [])
      const good = flatText('The policy ', policy, ' allows requests at this hour.')
      const written = flatText(hours.join('; '))
      return {
        source({ now, timeZone }) {
          const minute = minuteOfWeek(timeZone, now)
          const data = { policy, hours: written, time_zone: timeZone }
          if (isOpen(openings, minute)) return pass('hours', good, data)
          const next = nextOpening(openings, minute)
          const text = `The policy ${policy} allows no requests at this hour; the next from ${next} (${timeZone}).`
          return deny('hours', text, data)
        },
      }
    },
  },
  lanes: {
    strictest: 'each',
    prepare: (lanes, policy) => ({
      lane(lane) {
        const data = { policy, lane }
        return (lanes as string[]).includes(lane)
          ? pass('lane', `The policy ${policy} allows the ${lane} lane.`, data)
          : deny('lane', `The policy ${policy} does not allow the ${lane} lane, only ${lanes.join(' and ')}.`, data)
      },
    }),
  },
  // Checked before `allowModels`: what one policy denies stays denied, whatever others allow.
  denyModels: {
    strictest: 'each',
    prepare(models, policy) {
      // Some providers ignore the case of a name and would let a denied model through.
      const denied = compileModels(models.map((model) => model.toLowerCase()))
      return {
        model(model) {
          const by = findDenied(denied, model)
          return by === null
            ? pass('model.deny', `The policy ${policy} does not deny ${quote(model)}.`, { policy })
            : deny('model.deny', `The policy ${policy} does not allow the model ${quote(model)}${another}`, {
                policy,
                by,
              })
        },
      }
    },
  },
  allowModels: {
    strictest: 'each',
    prepare(models, policy) {
      const allowed = compileModels(models)
      return {
        model(model) {
          const by = findModel(allowed, model)
          if (by !== null) return pass('model.allow', `The policy ${policy} allows ${quote(model)}.`, { policy, by })
          const text = `The policy ${policy} allows only certain models, and ${quote(model)} is none of them${another}`
          return deny('model.allow', text, { policy })
        },
      }
    },
  },
  maxBody: {
    strictest: { of: (one, other) => Math.min(one, other) },
    prepare(bytes, policy) {
      const within = flatText('The body is within the ', describeSize(bytes), ' of the policy ', policy, '.')
      return { body: { bytes, policy, within } }
    },
  },
  maxOutputTokens: {
    strictest: 'each',
    prepare: (most, policy, { capOutput }) => ({ output: { most, policy, caps: capOutput === true } }),
  },
  // Belongs to the limits of its own policy.
  capOutput: counted,
  contentRules: {
    strictest: 'each',
    prepare: (rules, policy, { denyUnseen }) => ({ content: { policy, rules, deniesUnseen: denyUnseen === true } }),
  },
  denyPatterns: {
    strictest: 'each',
    prepare: (patterns, policy, { denyUnseen }) => ({
      content: { policy, rules: denyRules(patterns), deniesUnseen: denyUnseen === true },
    }),
  },
  // Decides what happens to content that its own policy's content rules cannot read.
  denyUnseen: counted,
  unpriced: {
    strictest: { of: (one, other) => (strictness(one) > strictness(other) ? one : other) },
    prepare(choice, policy) {
      const given = { model: '*', source: 'set', version: `policy ${policy}` } as const
      const price = typeof choice === 'number' ? fillPrice({ ...given, input: choice, output: choice }) : null
      return { unpriced: { policy, denies: choice === 'deny', price } }
    },
  },
  capture: {
    // The modes are listed from least to most captured.
    strictest: { of: (one, other) => (captureModes.indexOf(one) < captureModes.indexOf(other) ? one : other) },
    prepare: (mode, policy) => ({
      capture(overrules) {
        const more = overrules ? '; others that apply would keep more.' : '.'
        const text = flatText('The policy ', policy, ' ', captureTexts[mode], more)
        const data = { policy, capture: mode }
        return { mode, signal: Object.freeze({ rule: 'capture', verdict: 'note', text, data }) }
      },
    }),
  },
  bodiesRetention: {
    strictest: { of: (one, other) => Math.min(one, other) },
    prepare(ms, policy) {
      const text = flatText('The policy ', policy, ' keeps the bodies for ', formatDuration(ms), ' at most.')
      const data = { policy, bodies_retention_ms: ms }
      return {
        bodiesRetention: { ms, signal: Object.freeze({ rule: 'bodies_retention', verdict: 'note', text, data }) },
      }
    },
  },
}

/** A denial is the strictest, an allowance the least strict. */
function strictness(choice: 'allow' | 'deny' | number): number {
  if (typeof choice === 'number') return choice
  return choice === 'deny' ? Number.POSITIVE_INFINITY : -1
}

const captureTexts = {
  none: 'keeps no bodies',
  redacted: 'keeps the bodies, with secrets and personal data masked',
  full: 'keeps the bodies',
} as const

function pass(rule: string, text: string, data: NonNullable<Signal['data']>): RuleVerdict {
  return { fault: null, signal: { rule, verdict: 'pass', text, data } }
}

function deny(rule: string, text: string, data: NonNullable<Signal['data']>): RuleVerdict {
  const reason = fault('policy_denied', text, rule.startsWith('model.') ? { param: 'model' } : {})
  return { fault: reason, signal: { rule, verdict: 'deny', text, data } }
}

/** Names and patterns to look a model up in. */
interface ModelSet {
  exact: ReadonlySet<string>
  patterns: readonly Pattern[]
}

function compileModels(models: readonly string[]): ModelSet {
  const patterns = models.map(compilePattern)
  const exact = patterns.filter(isExact).map(({ text }) => text)
  return { exact: new Set(exact), patterns: patterns.filter((pattern) => !isExact(pattern)) }
}

/** The entry that matches the model; null: none does. */
function findModel(set: ModelSet, model: string): string | null {
  if (set.exact.has(model)) return model
  return set.patterns.find((pattern) => matchesPattern(pattern, model))?.text ?? null
}

/** Some providers ignore case, blanks or the collection, so a denied model must not pass in another spelling. */
function findDenied(denied: ModelSet, model: string): string | null {
  const plain = model.trim().toLowerCase()
  return findModel(denied, plain) ?? findModel(denied, plain.replace(/^(?:models\/)+/, ''))
}
