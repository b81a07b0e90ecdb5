import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Command, QueryFault } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import type { ProviderKind } from '../outputs.ts'
import { type AddChoice, findChoice, kindChoices, presetChoices, searchChoices } from './add-choices.ts'
import { AddForm } from './add-form.tsx'

/** Choose the kind first, then fill in its form. The choice is kept in the address. */
export function AddProvider({ chosen }: { chosen: string }) {
  const kinds = useQuery(orpc.providers.kinds.queryOptions({ input: {} }))
  const above = (
    <Link to="/providers" search={keepScope}>
      Providers
    </Link>
  )
  return (
    <Page title="Add provider" above={above}>
      {kinds.isPending ? <Loading /> : null}
      <QueryFault of={kinds} />
      {kinds.data === undefined ? null : <Steps chosen={chosen} kinds={kinds.data} />}
    </Page>
  )
}

function Steps({ chosen, kinds }: { chosen: string; kinds: readonly ProviderKind[] }) {
  const [text, setText] = useState('')
  const found = searchChoices(text, kinds)
  const choice = findChoice(chosen, kinds)
  const openKind = choice === null || choice.preset !== null ? undefined : choice.kind
  const choosesPreset = openKind !== undefined && openKind.presets.length > 0 && !chosen.endsWith('/own')
  return (
    <div className="stack">
      <VendorSearch text={text} onText={setText} />
      {found === null ? (
        <Choices label="Provider kind" choices={kindChoices(kinds)} chosen={choice?.kind.kind ?? ''} />
      ) : found.length === 0 ? (
        <p className="quiet">
          No vendor is called “{text}”. A server that speaks OpenAI’s format is added under Other, by its base URL.
        </p>
      ) : (
        <Choices small label="Vendors found" choices={found} chosen={chosen} />
      )}
      {choice === null ? (
        <p className="quiet">
          Choose a provider. On the command line: <Command text="spgw providers add --help" />
        </p>
      ) : null}
      {found === null && choice !== null && choice.kind.presets.length > 0 ? (
        <Choices
          small
          label="Vendor or server"
          choices={[...presetChoices(choice.kind), customServer(choice.kind)]}
          chosen={chosen}
        />
      ) : null}
      {choice === null || choosesPreset ? null : <AddForm key={chosen} choice={choice} />}
    </div>
  )
}

function VendorSearch({ text, onText }: { text: string; onText(text: string): void }) {
  return (
    <input
      type="search"
      className="input filter"
      aria-label="Search vendors"
      placeholder="Search vendors: groq, ollama, mistral …"
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => onText(event.target.value)}
    />
  )
}

function customServer(kind: ProviderKind): AddChoice {
  return {
    word: `${kind.kind}/own`,
    kind,
    preset: null,
    title: 'Custom base URL',
    about: 'Any OpenAI-compatible server',
  }
}

interface ChoicesProps {
  label: string
  choices: readonly AddChoice[]
  chosen: string
  small?: boolean
}

function Choices({ label, choices, chosen, small = false }: ChoicesProps) {
  const navigate = useNavigate()
  const choose = (word: string) =>
    void navigate({ to: '/providers', search: (before) => ({ ...keepScope(before), add: word }), replace: true })
  return (
    <fieldset className={small ? 'choices choices-small' : 'choices'}>
      <legend className="visually-hidden">{label}</legend>
      {choices.map(({ word, title, about }) => (
        <label key={word} className="choice">
          <input type="radio" name={label} checked={word === chosen} onChange={() => choose(word)} />
          <span className="choice-title">{title}</span>
          <span className="small quiet truncate">{about}</span>
        </label>
      ))}
    </fieldset>
  )
}
