import { errorText } from '../../core/caught.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { Edit } from '../../core/json/json-scan.ts'
import type { ContentAction, ContentSide } from '../../core/policies/content-rules.ts'
import type { Signal } from '../../core/record.ts'
import type { ContentPolicy, ReadyRule, ReadyRules } from '../../policy/content/compile.ts'
import type { Placeholders } from '../../policy/content/placeholders.ts'
import type { ScanContext } from '../../policy/content/text-scan.ts'
import type { Trace } from '../request/trace.ts'
import { noteUnseen } from './note-unseen.ts'

/** The content rules of one request or connection, and what they have done. */
export class CallContent {
  rules: ReadyRules
  readonly placeholders: Placeholders
  /** Edits of the prompt. */
  readonly edits: Edit[] = []
  #policies: readonly ContentPolicy[]
  readonly #trace: Pick<Trace, 'policySignals'>
  #signals: Map<string, { data: { places: number } }> | null = null

  constructor(
    policies: readonly ContentPolicy[],
    rules: ReadyRules,
    trace: Pick<Trace, 'policySignals'>,
    placeholders: Placeholders,
  ) {
    this.rules = rules
    this.#policies = policies
    this.#trace = trace
    this.placeholders = placeholders
  }

  /** From now on these policies apply. */
  use(policies: readonly ContentPolicy[], rules: ReadyRules): void {
    this.#policies = policies
    this.rules = rules
  }

  /** Whether anything in the answer is searched for or put back. */
  get readsAnswer(): boolean {
    return this.rules.answer.length > 0 || this.placeholders.restorer() !== null
  }

  /** For the texts of one side. `where`: in which text the scan is. Without `restores`, placeholders stay. */
  scanOf(side: ContentSide, where: () => string, restores = true): ScanContext & { refused: Fault | null } {
    const { placeholders } = this
    const isAnswer = side === 'answer'
    const context: ScanContext & { refused: Fault | null } = {
      rules: this.rules[side],
      placeholders,
      isAnswer,
      // On a connection, a turn may add placeholders while an answer is streaming.
      restorer: () => (isAnswer && restores ? placeholders.restorer() : null),
      refused: null,
      found: (rule, note) => {
        this.#note(rule, side, where(), note)
        if (rule.rule.action === 'block') context.refused ??= refusal(rule, side, where(), note)
      },
    }
    return context
  }

  /** There is content that no rule looks at. A fault: it must not pass. */
  noteUnseen(side: ContentSide, what: string): Fault | null {
    return noteUnseen(this.#trace, this.#policies, side, what)
  }

  #note({ policy, rule }: ReadyRule, side: ContentSide, at: string, note: string): void {
    const key = `${side} ${policy} ${rule.name}`
    this.#signals ??= new Map()
    const known = this.#signals.get(key)
    if (known !== undefined) return void known.data.places++
    const text = `The content rule ${rule.name} of the policy ${policy} ${did[rule.action]} ${nameFound(note)} in ${at}.`
    const data = { policy, content_rule: rule.name, on: side, at, places: 1 }
    const signal: Signal & { data: typeof data } = {
      rule: `content.${rule.action}`,
      verdict: verdicts[rule.action],
      text,
      data,
    }
    this.#signals.set(key, signal)
    this.#trace.policySignals.push(signal)
  }
}

const verdicts = { block: 'deny', redact: 'note', flag: 'flag' } as const satisfies Record<
  ContentAction,
  Signal['verdict']
>
const did: Readonly<Record<ContentAction, string>> = { block: 'blocked', redact: 'redacted', flag: 'flagged' }

function nameFound(note: string): string {
  if (note === '') return 'a match of its pattern'
  return `${/^[aeiouI]/.test(note) ? 'an' : 'a'} ${note}`
}

/** Names the rule and the place, never the text. */
function refusal({ policy, rule }: ReadyRule, side: ContentSide, at: string, note: string): Fault {
  const does = `The content rule ${rule.name} of the policy ${policy} does not allow ${nameFound(note)} in`
  if (side === 'prompt')
    return fault('policy_denied', `${does} ${at}. Remove it and send the request again.`, { param: at })
  return fault('policy_denied', `${does} the answer, so the rest of it is withheld. Ask for something else.`)
}

/** The rule could not be applied, so what it would have found is unknown. */
export function failedRule(side: ContentSide, error: unknown): Fault {
  const why = errorText(error)
  return fault(
    'policy_denied',
    `A content rule could not check the ${side}, so it is blocked: ${why}. Ask the operator.`,
  )
}
