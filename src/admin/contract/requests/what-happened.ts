import type { AttemptRecord, ReasoningState, RequestRecord, Signal } from '../../../core/record.ts'
import { firstSentence } from '../../../core/text/first-sentence.ts'
import { formatMilliseconds, formatMoney, groupDigits } from '../show-value.ts'
import { listSteps, nameTarget, providersBehind, type RequestStep } from './request-steps.ts'

/** "What happened" in plain sentences, the same on every surface. Pure: all of it is in the record. */
export function describeRecord(record: RequestRecord): string[] {
  const said = record.error?.message ?? null
  const decisions = record.routing_signals.filter((signal) => isDecision(signal) && signal.text !== said)
  return [
    ...describeShadow(record),
    ...decisions.filter(({ rule }) => rule !== 'patch').map(({ text }) => close(text)),
    ...describeSteps(record),
    ...decisions.filter(({ rule }) => rule === 'patch').map(({ text }) => close(text)),
    ...record.policy_signals
      .filter((signal) => isRemark(signal, record) && signal.text !== said)
      .map(({ text }) => close(text)),
    ...describeReasoning(record),
    ...describeLosses(record),
    ...describeOwnAnswer(record),
    describeEnd(record),
  ]
}

/** The request in one line: `smart → demo/demo-large · 200 after fallback · 262 ms · 2 → 65 tokens · key web`. */
export function summarizeRecord(record: RequestRecord): string {
  const { model, provider, upstream_model: upstream, duration_ms: took, tokens, key } = record
  const served = provider === null ? '' : ` → ${[provider, upstream].filter(Boolean).join('/')}`
  const parts = [
    `${model ?? record.operation ?? 'no model'}${served}`,
    describeResult(record),
    took === null ? '' : formatMilliseconds(took),
    tokens === null ? '' : `${groupDigits(tokens.input)} → ${groupDigits(tokens.output)} tokens`,
    key === null ? '' : `key ${key.name}`,
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

/** `200`, `200 after fallback`, `502 provider_unreachable after retry`, `200 provider_bad_response, broke off`. */
function describeResult(record: RequestRecord): string {
  if (record.state === 'admitted') return 'in progress'
  const steps = listSteps(record).filter((step) => step.kind === 'attempt')
  const answered = steps.find(({ attempt }) => attempt === record.attempts.at(-1))
  const cut = answered?.end.endsWith(', broke off') ? ', broke off' : ''
  const state = record.state === 'interrupted' ? 'interrupted' : ''
  const result = [record.status ?? '', record.error?.code ?? '', state].filter((word) => word !== '').join(' ')
  return `${result || 'no status'}${describeWay(steps, answered)}${cut}`
}

function describeWay(steps: readonly AttemptStep[], answered: AttemptStep | undefined): string {
  if (steps.some(({ lead }) => lead === 'fallback')) return ' after fallback'
  if (steps.some(({ lead }) => lead === 'beside')) return ' after hedging'
  return answered?.lead === 'again' ? ' after retry' : ''
}

/** Attempts, waits and skipped targets are told from the steps, with their times. */
function isDecision(signal: Signal): boolean {
  return signal.rule !== 'retry' && signal.rule !== 'fallback' && signal.rule !== 'target'
}

/** What a policy denied stands in the error, in words for the client. */
function isRemark({ verdict }: Signal, { error }: RequestRecord): boolean {
  return verdict === 'flag' || (verdict === 'deny' && error?.origin !== 'policy')
}

function close(text: string): string {
  const trimmed = text.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}

/** A wait is said together with what came after it. */
function describeSteps(record: RequestRecord): string[] {
  let waited = ''
  return listSteps(record).flatMap((step) => {
    if (step.kind === 'wait') {
      waited = `Waited ${formatMilliseconds(step.endMs - step.startMs)}`
      return []
    }
    const text = step.kind === 'skip' ? `skipped ${step.target}: ${step.reason}` : describeAttempt(step, record.model)
    const sentence = waited === '' ? text.charAt(0).toUpperCase() + text.slice(1) : `${waited} and ${text}`
    waited = ''
    return [close(sentence)]
  })
}

type AttemptStep = Extract<RequestStep, { kind: 'attempt' }>

function describeAttempt(step: AttemptStep, model: string | null): string {
  const name = nameTarget(step.attempt, model)
  const lead = {
    first: `tried ${name}`,
    again: `tried ${name} again`,
    fallback: `fell back to ${name}`,
    beside: `asked ${name} as well`,
  }[step.lead]
  return lead + outcomeOf(step)
}

function outcomeOf({ attempt, end: result }: AttemptStep): string {
  const { outcome, started_ms: start, first_byte_ms: first, ended_ms: end } = attempt
  const after = (moment: number | null) => (moment === null ? '' : ` after ${formatMilliseconds(moment - start)}`)
  if (outcome === 'started') return ', which has not responded yet'
  if (outcome === 'answered' || result.endsWith(', broke off')) {
    const cut = result.endsWith('broke off') ? ` and broke off${after(end)}` : ''
    return `, which responded${after(first ?? end)}${cut}`
  }
  const passed = outcome === 'passed' ? '; its response was passed on' : ''
  if (outcome === 'cancelled')
    return `, which was cancelled${after(end)}, since the other was faster${describeCost(attempt)}`
  return `: ${result}${after(end)}${describeReason(attempt)}${passed}`
}

/** What was given up may be charged all the same. */
function describeCost({ cost }: AttemptRecord): string {
  return cost === null || cost.usd === 0 ? '' : ` (charged ${formatMoney(cost.usd)})`
}

/** `, asked to wait 20 s`, ` (connection refused)`: what the status does not say. */
function describeReason({ message, status }: AttemptRecord): string {
  if (message === null) return ''
  const lead = `answered ${status}`
  if (message.startsWith(lead)) return message.slice(lead.length).replace(/^ and /, ', ')
  // What the client was told to do is no part of what happened.
  return ` (${firstSentence(message)})`
}

function describeLosses(record: RequestRecord): string[] {
  return record.losses.length === 0 ? [] : [`Lost in translation: ${record.losses.join(', ')}.`]
}

function describeReasoning({ reasoning }: RequestRecord): string[] {
  return reasoning === null ? [] : [reasoningTexts[reasoning]]
}

const reasoningTexts: Readonly<Record<ReasoningState, string>> = {
  carried: 'The client brought back the signed reasoning of earlier turns.',
  attached: 'The gateway put back the signed reasoning of earlier turns, which it had kept.',
  missing: 'No signed reasoning was found for the tool calls of earlier turns, so the model did not get it back.',
  stripped: 'Reasoning of earlier turns was stripped: it was of another provider, or it was refused.',
}

/** A copy, whose answer nobody got. */
function describeShadow({ shadow_of }: RequestRecord): string[] {
  return shadow_of === null ? [] : [`Copy of ${shadow_of} for comparison; the client did not wait for it.`]
}

/** The model list and the like, which no provider is asked for. */
function describeOwnAnswer(record: RequestRecord): string[] {
  return isOwnAnswer(record) ? ['The gateway answered the request itself; no provider was called.'] : []
}

/** What a batch used is told of without an attempt as well, and names its provider. */
export function isOwnAnswer({ state, status, error, attempts, provider }: RequestRecord): boolean {
  const answered = state === 'settled' && error === null && status !== null && status < 400
  return answered && attempts.length === 0 && provider === null
}

function describeEnd(record: RequestRecord): string {
  if (record.state === 'admitted') return 'In progress.'
  if (record.state === 'interrupted') return 'Interrupted: the gateway stopped before the request finished.'
  const took = record.duration_ms === null ? '' : ` after ${formatMilliseconds(record.duration_ms)}`
  if (record.error === null) return `Ended with ${record.status ?? 'no status'}${took}.`
  return `Ended with ${record.status ?? 'no status'} ${record.error.code}${took}. ${describeCause(record)} ${close(record.error.message)}`
}

/** The gateway refused only because of what it had met before: the failures are the cause. */
function describeCause(record: RequestRecord): string {
  const behind = providersBehind(record)
  if (record.error?.code !== 'provider_not_ready' || behind.length === 0) return `Cause: ${record.error?.origin}.`
  return `Cause: earlier failures of ${behind.join(' and ')}.`
}
