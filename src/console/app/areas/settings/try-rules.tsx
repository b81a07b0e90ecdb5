import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { contentSides } from '../../../../core/policies/content-rules.ts'
import { Button, FormFault, StateBadge, UntrustedText, useOperation } from '../../parts/index.ts'
import type { Policy, TriedRules } from '../outputs.ts'

const tones = { block: 'bad', redact: 'warning', flag: 'warning' } as const

/** A text box for the rules of a policy, or for rules that are not saved yet. Nothing is sent or stored. */
export function TryRules({ policy: { name } }: { policy: Policy }) {
  const id = useId()
  const [text, setText] = useState('')
  const [rules, setRules] = useState('')
  const [on, setOn] = useState<string>('prompt')
  const [tried, setTried] = useState<TriedRules | null>(null)
  const { call, busy, fault } = useOperation('policies.try')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(null)
    const unsaved = rules.trim() === '' ? {} : { contentRules: { 'rules.yaml': rules } }
    setTried((await call({ name, text, on, ...unsaved })) as TriedRules | null)
  }
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <p className="quiet">Shows what the rules find in a text. Nothing is sent or stored.</p>
      <TextBox id={`${id}-text`} label="Text" rows={5} value={text} onChange={setText} />
      <div className="field">
        <label htmlFor={`${id}-on`}>On</label>
        <select id={`${id}-on`} className="input" value={on} onChange={(event) => setOn(event.target.value)}>
          {contentSides.map((side) => (
            <option key={side}>{side}</option>
          ))}
        </select>
      </div>
      <TextBox
        id={`${id}-rules`}
        label="Rules to try in place of its own (YAML)"
        rows={3}
        value={rules}
        onChange={setRules}
      />
      <div>
        <Button variant="primary" type="submit" busy={busy}>
          Try
        </Button>
      </div>
      <FormFault fault={fault} shown={[]} />
      <div aria-live="polite">{tried === null ? null : <Tried tried={tried} />}</div>
    </form>
  )
}

interface TextBoxProps {
  id: string
  label: string
  rows: number
  value: string
  onChange(value: string): void
}

function TextBox({ id, label, rows, value, onChange }: TextBoxProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input mono"
        rows={rows}
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}

function Tried({ tried: { matches, given, text, on } }: { tried: TriedRules }) {
  if (matches.length === 0) return <StateBadge state={`No rule finds anything in this ${on}`} tone="good" />
  return (
    <div className="stack">
      <p>{matches.length} found:</p>
      <p className="mono breakable tried-text">{markMatches(given, matches)}</p>
      <ul className="stack-tight">
        {matches.map(({ rule, kind, action, start, end }) => (
          <li key={`${rule} ${start} ${end}`}>
            <StateBadge state={action} tone={tones[action]} /> {rule}: {kind ?? 'match of its pattern'} at {start} to{' '}
            {end}
          </li>
        ))}
      </ul>
      {text === null ? (
        <StateBadge state={`This ${on} would be blocked`} tone="bad" />
      ) : (
        <>
          <p>{text === given ? 'Text, unchanged' : 'Text after redaction'}</p>
          <p className="mono breakable tried-text">
            <UntrustedText text={text} />
          </p>
        </>
      )}
    </div>
  )
}

/** Of matches that overlap, what an earlier one has marked is not marked again. */
function markMatches(given: string, matches: TriedRules['matches']): ReactNode[] {
  const shown: ReactNode[] = []
  let at = 0
  for (const { rule, start, end } of matches) {
    if (end <= at) continue
    const from = Math.max(at, start)
    if (from > at) shown.push(<UntrustedText key={`before ${from}`} text={given.slice(at, from)} />)
    shown.push(
      <mark key={`${rule} ${from}`} title={rule}>
        <UntrustedText text={given.slice(from, end)} />
      </mark>,
    )
    at = end
  }
  // Nothing would be shown as a dash.
  return at === given.length ? shown : [...shown, <UntrustedText key="rest" text={given.slice(at)} />]
}
