import { Plus, X } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import type { DerivedField } from '../contract/derived.ts'
import { Button, IconButton } from './button.tsx'
import type { FormValue } from './form-values.ts'
import { labelOf } from './labels.ts'

export interface FieldChoice {
  value: string
  title: string
}

export interface FormFieldProps {
  field: DerivedField
  value: FormValue
  onChange(value: FormValue): void
  error?: string | undefined
  /** Words to choose from where the contract knows none: names of providers, of projects. */
  suggestions?: readonly string[] | undefined
  /** All that may be chosen, where the contract leaves it open: a list to choose from in place of a text. */
  choices?: readonly FieldChoice[] | undefined
  /** In place of the field's own name and description. */
  label?: string | undefined
  hint?: ReactNode
  autoFocus?: boolean
  /** The form edits a record: unchanged fields keep their values. */
  isEdit?: boolean
  /** In place of the control that follows from the field's type: a group of its own. */
  control?: ((props: ControlProps) => ReactNode) | undefined
}

const syntaxHints: Partial<Record<NonNullable<DerivedField['syntax']>, string>> = {
  duration: 'Such as 250ms, 5s, 30m or 90d',
  size: 'Such as 64KB, 100MB or 2GiB',
  list: 'One per line',
  target: 'One per line, in order: PROVIDER[:MODEL][,weight=N][,priority=N][,format=FORMAT]',
}

/** One field of a form with its name, its hint and what is wrong with it. The control follows from the field's type. */
export function FormField(props: FormFieldProps) {
  const { field, error, label, isEdit = false } = props
  const id = useId()
  const name = label ?? labelOfField(field)
  if (field.shape === 'boolean') return <SwitchField {...props} id={id} name={name} />
  const Control = props.control ?? controlOf(props)
  const isGroup =
    props.control !== undefined || Control === PairsControl || (field.shape === 'list' && field.choices !== null)
  const describedBy = `${id}-hint ${id}-error`
  const hint = <Hint {...props} id={id} />
  const fault = (
    <p id={`${id}-error`} className="field-error small" role={error === undefined ? undefined : 'alert'}>
      {error}
    </p>
  )
  const mark = field.required || isEdit ? null : <span className="quiet"> (optional)</span>
  return isGroup ? (
    <fieldset className={`field${error === undefined ? '' : ' field-wrong'}`} aria-describedby={describedBy}>
      <legend>
        {name}
        {mark}
      </legend>
      <Control {...props} id={id} />
      {hint}
      {fault}
    </fieldset>
  ) : (
    <div className={`field${error === undefined ? '' : ' field-wrong'}`}>
      <label htmlFor={id}>
        {name}
        {mark}
      </label>
      <Control {...props} id={id} />
      {hint}
      {fault}
    </div>
  )
}

export function labelOfField({ label, flag, name }: DerivedField): string {
  return label ?? labelOf((flag ?? name).replace(/^-+/, '')).replaceAll('-', ' ')
}

export type ControlProps = FormFieldProps & { id: string }

function controlOf({ field, suggestions, choices }: FormFieldProps) {
  if (field.syntax === 'files') return LinesControl
  if (field.shape === 'pairs') return PairsControl
  if (field.shape === 'list' && field.choices === null) return suggestions === undefined ? LinesControl : PickControl
  if (field.shape === 'list') return ChecksControl
  if (field.choices !== null || choices !== undefined) return SelectControl
  return suggestions === undefined ? TextControl : SuggestControl
}

function Hint({ field, hint, id, suggestions }: ControlProps) {
  const own = hint ?? field.description
  const picks = field.shape === 'list' && (suggestions !== undefined || field.choices !== null)
  const hasExample = /such as/i.test(String(own))
  const syntax = field.syntax && !picks && !hasExample ? syntaxHints[field.syntax] : undefined
  return (
    <p id={`${id}-hint`} className="field-hint small quiet">
      {own}
      {own && syntax ? (String(own).endsWith('.') ? ' ' : '. ') : null}
      {syntax}
    </p>
  )
}

function SwitchField({ field, value, onChange, error, hint, id, name }: ControlProps & { name: string }) {
  return (
    <div className="field field-switch">
      <label className="check" htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.checked)}
        />
        {name}
      </label>
      <p id={`${id}-hint`} className="field-hint small quiet">
        {hint ?? field.description}
      </p>
      {error === undefined ? null : <p className="field-error small">{error}</p>}
    </div>
  )
}

function basics({ field, id, error, autoFocus }: ControlProps) {
  return {
    id,
    name: field.name,
    required: field.required,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-hint ${id}-error`,
    autoFocus: autoFocus === true,
  }
}

function TextControl(props: ControlProps) {
  const { field, value, onChange } = props
  const isNumber = field.shape === 'number'
  return (
    <input
      {...basics(props)}
      className={`input${field.secret ? ' mono' : ''}`}
      type={field.secret ? 'password' : 'text'}
      inputMode={isNumber ? 'numeric' : 'text'}
      autoComplete={field.secret ? 'new-password' : 'off'}
      spellCheck={false}
      value={String(value)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

function SuggestControl(props: ControlProps) {
  const { value, onChange, suggestions = [], id } = props
  return (
    <>
      <input
        {...basics(props)}
        className="input"
        list={`${id}-list`}
        autoComplete="off"
        spellCheck={false}
        value={String(value)}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={`${id}-list`}>
        {suggestions.map((word) => (
          <option key={word} value={word} />
        ))}
      </datalist>
    </>
  )
}

function SelectControl(props: ControlProps) {
  const { field, value, onChange } = props
  const choices = props.choices ?? (field.choices ?? []).map((word) => ({ value: word, title: word }))
  return (
    <select
      {...basics(props)}
      className="input"
      value={String(value)}
      onChange={(event) => onChange(event.target.value)}
    >
      {/* A page's own choices have a word for the blank among them. */}
      {props.choices !== undefined || (field.required && value !== '') ? null : (
        <option value="">{field.required ? 'Select' : 'Default'}</option>
      )}
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.title}
        </option>
      ))}
    </select>
  )
}

function LinesControl(props: ControlProps) {
  const { value, onChange } = props
  const lines = String(value).split('\n').length
  return (
    <textarea
      {...basics(props)}
      className="input mono"
      rows={Math.min(8, Math.max(2, lines))}
      spellCheck={false}
      value={String(value)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** Several words, each chosen from a list or typed; what was chosen stands above as chips. */
function PickControl(props: ControlProps) {
  const { value, onChange, suggestions = [], id, field } = props
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(() => wordsOf(String(value), '\n'))
  // What is typed counts at once: nothing moves under the pointer when the field is left for the button that saves.
  const change = (words: readonly string[], text: string) => {
    setChosen([...words])
    setTyped(text)
    onChange([...new Set([...words, ...wordsOf(text, separators)])].join('\n'))
  }
  const add = () => change([...new Set([...chosen, ...wordsOf(typed, separators)])], '')
  return (
    <div className="stack-tight">
      {chosen.length === 0 ? null : (
        <ul className="row picked" aria-label={`${labelOf(field.name)}, chosen`}>
          {chosen.map((word) => (
            <li key={word} className="chip">
              <bdi className="truncate">{word}</bdi>
              <button
                type="button"
                aria-label={`Remove ${word}`}
                onClick={() =>
                  change(
                    chosen.filter((one) => one !== word),
                    typed,
                  )
                }
              >
                <X size={12} aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="pick">
        <input
          {...basics(props)}
          required={false}
          className="input"
          list={`${id}-list`}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => change(chosen, event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || typed.trim() === '') return
            event.preventDefault()
            add()
          }}
        />
        <Button icon={<Plus size={14} aria-hidden="true" />} onClick={add}>
          Add
        </Button>
      </div>
      <datalist id={`${id}-list`}>
        {suggestions
          .filter((word) => !chosen.includes(word))
          .map((word) => (
            <option key={word} value={word} />
          ))}
      </datalist>
    </div>
  )
}

const separators = /[\s,]+/

function wordsOf(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function ChecksControl({ field, value, onChange }: ControlProps) {
  const chosen = Array.isArray(value) ? value.map(String) : []
  const toggle = (word: string) =>
    onChange(chosen.includes(word) ? chosen.filter((one) => one !== word) : [...chosen, word])
  return (
    <div className="row">
      {(field.choices ?? []).map((word) => (
        <label key={word} className="check">
          <input type="checkbox" checked={chosen.includes(word)} onChange={() => toggle(word)} />
          {word}
        </label>
      ))}
    </div>
  )
}

function PairsControl({ field, value, onChange }: ControlProps) {
  const pairs: [string, string][] = Array.isArray(value)
    ? value.flatMap((pair): [string, string][] => (Array.isArray(pair) ? [pair] : []))
    : []
  const change = (at: number, pair: [string, string]) =>
    onChange(pairs.map((one, index) => (index === at ? pair : one)))
  const rows = pairs.map((pair, index) => ({ pair, index, key: `${index}` }))
  return (
    <div className="stack-tight">
      {rows.map(({ pair: [name, text], index, key }) => (
        <div key={key} className="pair">
          <input
            className="input"
            aria-label={`${labelOf(field.name)} ${index + 1}, name`}
            placeholder="Name"
            value={name}
            onChange={(event) => change(index, [event.target.value, text])}
          />
          <input
            className="input"
            aria-label={`${labelOf(field.name)} ${index + 1}, value`}
            placeholder="Value"
            value={text}
            onChange={(event) => change(index, [name, event.target.value])}
          />
          <IconButton
            label="Remove"
            icon={<X size={14} aria-hidden="true" />}
            onClick={() => onChange(pairs.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div>
        <Button small icon={<Plus size={14} aria-hidden="true" />} onClick={() => onChange([...pairs, ['', '']])}>
          Add
        </Button>
      </div>
    </div>
  )
}
