import type { AttemptRecord, RequestRecord, Signal } from '../../../core/record.ts'

/** "What happened" in plain sentences, the same on every surface. Pure: all of it is in the record. */
export function describeRecord(record: RequestRecord): string[] {
  const said = record.error?.message ?? null
  const decisions = record.routing_signals.filter((signal) => isDecision(signal) && signal.text !== said)
  return [
    ...decisions.filter(({ rule }) => rule !== 'splice').map(describeDecision),
    ...record.attempts.map((attempt, index) => describeAttempt(attempt, record.attempts[index - 1], record.model)),
    ...decisions.filter(({ rule }) => rule === 'splice').map(describeDecision),
    ...record.policy_signals
      .filter((signal) => isRemark(signal) && signal.text !== said)
      .map(({ text }) => close(text)),
    ...describeLosses(record),
    ...describeOwnAnswer(record),
    describeEnd(record),
  ]
}

/** Attempts, and what led from one to the next, are told from the attempts themselves, with their times. */
function isDecision({ rule, verdict }: Signal): boolean {
  return rule !== 'retry' && rule !== 'fallback' && !(rule === 'target' && verdict === 'taken')
}

function isRemark({ verdict }: Signal): boolean {
  return verdict === 'deny' || verdict === 'flag'
}

/** A target's text begins with its name, which is written as it is. */
function describeDecision({ rule, text }: Signal): string {
  return close(rule === 'target' ? `Skipped ${text}` : text)
}

function close(text: string): string {
  const trimmed = text.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}

function describeAttempt(attempt: AttemptRecord, before: AttemptRecord | undefined, model: string | null): string {
  return `${leadTo(attempt, before, model)}${outcomeOf(attempt)}.`
}

function leadTo(attempt: AttemptRecord, before: AttemptRecord | undefined, model: string | null): string {
  const { provider, upstream_model: upstream } = attempt
  const name = upstream === '' || upstream === model ? provider : `${provider} (${upstream})`
  if (before === undefined) return `Tried ${name}`
  if (before.provider !== provider || before.upstream_model !== upstream) return `Fell back to ${name}`
  const waited = before.ended_ms === null ? 0 : attempt.started_ms - before.ended_ms
  return waited < 1 ? `Tried ${name} again` : `Waited ${describeDuration(waited)} and tried ${name} again`
}

function outcomeOf(attempt: AttemptRecord): string {
  const { status, outcome, started_ms: start, first_byte_ms: first, ended_ms: end } = attempt
  const after = (moment: number | null) => (moment === null ? '' : ` after ${describeDuration(moment - start)}`)
  switch (outcome) {
    case 'answered':
      return `, which responded${after(first ?? end)}`
    case 'started':
      return ', which has not responded yet'
    case 'aborted':
      return `: cancelled${after(end)}`
    default: {
      const passed = outcome === 'passed' ? '; its response was passed on' : ''
      return `: ${status ?? 'no response'}${after(end)}${describeReason(attempt)}${passed}`
    }
  }
}

/** `, asked to wait 20 s`, ` (connection refused)`: what the status does not say. */
function describeReason({ message, status }: AttemptRecord): string {
  if (message === null) return ''
  const lead = `answered ${status}`
  if (message.startsWith(lead)) return message.slice(lead.length).replace(/^ and /, ', ')
  // What the client was told to do is no part of what happened.
  return ` (${message.split(/\.(?:\s|$)/, 1)[0]})`
}

function describeLosses(record: RequestRecord): string[] {
  return record.losses.length === 0 ? [] : [`Lost in translation: ${record.losses.join(', ')}.`]
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
  const took = record.duration_ms === null ? '' : ` after ${describeDuration(record.duration_ms)}`
  if (record.error === null) return `Ended with ${record.status ?? 'no status'}${took}.`
  return `Ended with ${record.status ?? 'no status'} ${record.error.code}${took}. Cause: ${record.error.origin}. ${close(record.error.message)}`
}

/** `210 ms`, `1.2 s`, `2 min 5 s`. */
export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
