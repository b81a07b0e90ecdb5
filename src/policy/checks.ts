import { type CaptureMode, captureModes } from '../core/capture.ts'
import { type Fault, fault } from '../core/errors.ts'
import { flatText } from '../core/flat-text.ts'
import { compilePattern, isExact, matchesPattern, type Pattern } from '../core/pattern.ts'
import type { PolicyRules, RuleName } from '../core/policy-rules.ts'
import { quote } from '../core/quote.ts'
import type { Signal } from '../core/record.ts'
import { formatSize } from '../core/units.ts'

/** What one rule of one policy says of a request. */
export interface RuleVerdict {
  fault: Fault | null
  signal: Signal
}

/** Its verdict depends on the name alone, and is remembered by name. */
export type NameCheck = (name: string) => RuleVerdict

export interface BodyLimit {
  bytes: number
  policy: string
  /** Says of a body that it keeps to the limit. */
  within: string
}

/** `overrules`: other policies that apply would keep more. */
export type CaptureChoice = (overrules: boolean) => { mode: CaptureMode; signal: Signal }

/** One rule of one policy, ready to be used when a request has what it looks at. */
export interface PreparedCheck {
  lane?: NameCheck
  model?: NameCheck
  body?: BodyLimit
  capture?: CaptureChoice
}

/** What a rule does to a request. `prepare` runs once for each policy of a snapshot that sets the rule. */
export interface RuleCheck<Value> {
  strictest: Strictest<Value>
  prepare(value: Value, policy: string): PreparedCheck
}

/**
 * Which value applies where several policies set the rule. `each`: every one, so that a request must pass them all.
 * Otherwise the stricter of two, whatever their order.
 */
export type Strictest<Value> = 'each' | { of(one: Value, other: Value): Value }

/** A row for each rule of `core/policy-rules.ts`, in the order of the checks. */
export const ruleChecks: { readonly [Name in RuleName]: RuleCheck<NonNullable<PolicyRules[Name]>> } = {
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
  // Before what is allowed: what one policy denies is denied, whatever the others allow.
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
            : deny('model.deny', `The policy ${policy} does not allow the model ${quote(model)}.`, { policy, by })
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
          const text = `The policy ${policy} allows only certain models, and ${quote(model)} is none of them.`
          return deny('model.allow', text, { policy })
        },
      }
    },
  },
  maxBody: {
    strictest: { of: (one, other) => Math.min(one, other) },
    prepare(bytes, policy) {
      const within = flatText('The body is within the ', formatSize(bytes), ' of the policy ', policy, '.')
      return { body: { bytes, policy, within } }
    },
  },
  capture: {
    // The modes are listed from the one that keeps least.
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

/** The entry that names the model; null when none does. */
function findModel(set: ModelSet, model: string): string | null {
  if (set.exact.has(model)) return model
  return set.patterns.find((pattern) => matchesPattern(pattern, model))?.text ?? null
}

/** Some providers ignore case, blanks or the collection, and would let a denied model through in another spelling. */
function findDenied(denied: ModelSet, model: string): string | null {
  const plain = model.trim().toLowerCase()
  return findModel(denied, plain) ?? findModel(denied, plain.replace(/^(?:models\/)+/, ''))
}
