import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { type PolicyRule, policyRules, shownName, writeValue } from '../../../../core/policies/policy-rules.ts'
import { describeSize } from '../../../../core/units.ts'
import { Button, Count, Money, RecordView, Time, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { LimitBarList } from '../keys/limit-bars.tsx'
import type { UsedLimit } from '../keys/used-limits.ts'
import type { Policy } from '../outputs.ts'
import { Section } from '../section.tsx'

interface PolicySectionProps {
  policy: Policy
  /** Of all that it is attached to; null: not known yet. */
  limits: readonly UsedLimit[] | null
  buttons: ReactNode
}

/** One policy: where it applies, what is used of its limits, and what else it says. */
export function PolicySection({ policy, limits, buttons }: PolicySectionProps) {
  const rules = shownRules(policy, limits !== null && limits.length > 0)
  return (
    <Section title={policy.name} actions={buttons}>
      <div className="card stack">
        <Places policy={policy} />
        {limits === null || limits.length === 0 ? null : <PolicyLimits policy={policy} limits={limits} />}
        {policy.grants.map(({ usd, until }) => (
          <p key={`${until} ${usd}`}>
            <Money usd={usd} /> more, ends <Time at={until} />
          </p>
        ))}
        {rules.length === 0 ? null : <RecordView entries={rules} />}
        {rules.length === 0 && limits?.length === 0 ? <p className="quiet">It limits nothing yet.</p> : null}
      </div>
    </Section>
  )
}

/** A policy that counts each key apart may have thousands; those nearest to their end are shown. */
const mostBars = 12

function PolicyLimits({ policy: { name }, limits }: { policy: Policy; limits: readonly UsedLimit[] }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = limits.length > mostBars
  return (
    <>
      <LimitBarList
        limits={limits}
        detailed
        ofOne
        most={isLong && !isWhole ? mostBars : limits.length}
        label={`Limits of ${name}`}
      />
      {isLong ? (
        <div>
          <Button small aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole
              ? `Show the ${mostBars} nearest to their end`
              : `Show all ${limits.length.toLocaleString('en-US')}`}
          </Button>
        </div>
      ) : null}
    </>
  )
}

function Places({ policy: { attached_to: attached, held_by: holders } }: { policy: Policy }) {
  const places = [...attached, ...holders]
  if (places.length === 0) return <p className="quiet">It applies to nothing yet. Edit it to attach it.</p>
  return (
    <p className="quiet">
      Applies to{' '}
      {places.map((place, index) => (
        <span key={place}>
          {index === 0 ? '' : ', '}
          <Place word={place} />
        </span>
      ))}
    </p>
  )
}

/** A key has a page of its own. */
function Place({ word }: { word: string }) {
  const [noun, name = ''] = word.split(/:(.*)/s)
  if (noun === 'workspace') return 'the workspace'
  if (noun !== 'key') return <UntrustedText text={word.replace(':', ' ')} />
  return (
    <>
      key{' '}
      <Link to="/keys/$key" params={{ key: name.split('/').at(-1) ?? name }} search={keepScope}>
        <UntrustedText text={name} />
      </Link>
    </>
  )
}

/** What limits an amount, which bars show where it applies to anything. */
const counted: readonly string[] = ['rpm', 'tpm', 'concurrency'] satisfies (keyof typeof policyRules)[]
const isCounted = (name: string) => counted.includes(name) || name.startsWith('budget')

function shownRules(policy: Policy, hasBars: boolean): { label: string; value: ReactNode }[] {
  return Object.entries(policyRules).flatMap(([name, rule]) => {
    const value: unknown = Reflect.get(policy, shownName(name, rule.form))
    const isUnset = value === null || value === false || (Array.isArray(value) && value.length === 0)
    if (isUnset || (hasBars && isCounted(name))) return []
    return { label: rule.meta.label, value: <RuleText rule={rule} value={value} /> }
  })
}

function RuleText({ rule: { form }, value }: { rule: PolicyRule; value: unknown }) {
  if (value === true) return 'Yes'
  if (form.kind === 'count') return <Count value={Number(value)} />
  if (form.kind === 'money') return <Money usd={Number(value)} />
  if (form.kind === 'size') return describeSize(Number(value))
  if (form.kind === 'content') return <UntrustedText text={describeContent(value)} />
  const written = writeValue(form, value)
  return <UntrustedText text={Array.isArray(written) ? written.join(', ') : String(written)} />
}

/** `redact email, block secrets` */
function describeContent(rules: unknown): string {
  const words = (Array.isArray(rules) ? rules : []).map((rule: { action?: unknown; name?: unknown }) => {
    return `${String(rule.action)} ${String(rule.name)}`
  })
  return words.join(', ')
}
