import { Plus, X } from 'lucide-react'
import { type ReactNode, useId, useRef, useState } from 'react'
import { contentActions, detectorGroups, mostLongest } from '../../../../core/policies/content-rules.ts'
import { Button, type ControlProps, IconButton } from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'
import {
  changeRule,
  lookFor,
  mayRestore,
  newRow,
  ownPattern,
  type RuleRow,
  readRows,
  sideChoices,
  sidesWord,
  wordOf,
  writeRows,
} from './content-rule-rows.ts'

const groupTitles: Record<keyof typeof detectorGroups, string> = { secrets: 'Secrets', personal: 'Personal data' }
const titleOf = (word: string) => labelOf(word.replaceAll('-', '_'))

/** The content rules of a policy, one row each; whoever has them as YAML or JSON pastes the text. */
export function ContentRulesField(props: ControlProps) {
  const { value, onChange, id } = props
  const list = useRef<HTMLOListElement>(null)
  const [rows, setRows] = useState(() => readRows(String(value)))
  const change = (next: RuleRow[]) => {
    setRows(next)
    onChange(writeRows(next))
  }
  if (rows === null) return <RulesText {...props} onRows={setRows} />
  const focus = (selector: string) =>
    requestAnimationFrame(() => list.current?.parentElement?.querySelector<HTMLElement>(selector)?.focus())
  const add = () => {
    change([...rows, newRow(rows)])
    focus('li:last-child select')
  }
  // The button that had the focus goes with its row.
  const remove = (row: RuleRow) => {
    change(rows.filter((one) => one !== row))
    focus('ol + .row button')
  }
  return (
    <div className="stack-tight">
      <ol className="content-rules" ref={list}>
        {rows.map((row, index) => (
          <RuleFields
            key={row.key}
            row={row}
            number={index + 1}
            onLookFor={(word) => change(rows.map((one) => (one === row ? lookFor(row, word, rows) : one)))}
            onChange={(part) => change(rows.map((one) => (one === row ? changeRule(row, part) : one)))}
            onRemove={() => remove(row)}
          />
        ))}
      </ol>
      <div className="row">
        <Button small icon={<Plus size={14} aria-hidden="true" />} aria-describedby={`${id}-hint`} onClick={add}>
          Add rule
        </Button>
        <Button small onClick={() => setRows(null)}>
          Edit as text
        </Button>
      </div>
    </div>
  )
}

function RulesText({ value, onChange, id, onRows }: ControlProps & { onRows(rows: RuleRow[]): void }) {
  const rows = readRows(String(value))
  return (
    <div className="stack-tight">
      <textarea
        className="input mono"
        rows={8}
        spellCheck={false}
        aria-label="Content rules in YAML or JSON"
        aria-describedby={`${id}-hint ${id}-error`}
        placeholder={'rules:\n  - name: keys\n    detector: secrets\n    action: block'}
        value={String(value)}
        onChange={(event) => onChange(event.target.value)}
      />
      {rows === null ? null : (
        <div>
          <Button small onClick={() => onRows(rows)}>
            Edit as fields
          </Button>
        </div>
      )}
    </div>
  )
}

interface RuleFieldsProps {
  row: RuleRow
  number: number
  onLookFor(word: string): void
  onChange(part: Partial<RuleRow['rule']>): void
  onRemove(): void
}

function RuleFields({ row: { rule }, number, onLookFor, onChange, onRemove }: RuleFieldsProps) {
  return (
    <li className="content-rule" aria-label={`Rule ${number}`}>
      <Choice label="Look for" value={wordOf(rule)} onChange={onLookFor}>
        {Object.entries(detectorGroups).map(([group, words]) => (
          <optgroup key={group} label={groupTitles[group as keyof typeof groupTitles]}>
            <option value={group}>All {groupTitles[group as keyof typeof groupTitles].toLowerCase()}</option>
            {words.map((word) => (
              <option key={word} value={word}>
                {titleOf(word)}
              </option>
            ))}
          </optgroup>
        ))}
        <option value={ownPattern}>Pattern of your own</option>
      </Choice>
      <Choice
        label="Action"
        value={rule.action}
        onChange={(word) => onChange({ action: contentActions.find((action) => action === word) ?? 'flag' })}
      >
        {contentActions.map((action) => (
          <option key={action} value={action}>
            {titleOf(action)}
          </option>
        ))}
      </Choice>
      {rule.detector === null ? <PatternFields rule={rule} onChange={onChange} /> : null}
      <Choice
        label="In"
        value={sidesWord(rule)}
        onChange={(word) => onChange({ on: sideChoices[word]?.on ?? ['prompt', 'answer'] })}
      >
        {Object.entries(sideChoices).map(([word, { title }]) => (
          <option key={word} value={word}>
            {title}
          </option>
        ))}
      </Choice>
      <Text label="Rule name" value={rule.name} onChange={(name) => onChange({ name })} />
      {mayRestore(rule) ? (
        <label className="check content-rule-wide">
          <input
            type="checkbox"
            checked={rule.reversible}
            onChange={(event) => onChange({ reversible: event.target.checked })}
          />
          Put it back in the answer
        </label>
      ) : null}
      <IconButton small label={`Remove rule ${number}`} icon={<X size={14} aria-hidden="true" />} onClick={onRemove} />
    </li>
  )
}

function PatternFields({ rule, onChange }: { rule: RuleRow['rule']; onChange: RuleFieldsProps['onChange'] }) {
  return (
    <>
      <Text
        label="Pattern (RE2 syntax)"
        wide
        value={rule.pattern ?? ''}
        onChange={(pattern) => onChange({ pattern })}
      />
      <Text
        label={`Longest match, in characters (at most ${mostLongest.toLocaleString('en')})`}
        wide
        isNumber
        // 0 is what an empty field leaves, and nothing that the gateway takes.
        value={rule.longest === 0 ? '' : String(rule.longest)}
        onChange={(text) => onChange({ longest: Math.trunc(Number(text)) })}
      />
    </>
  )
}

interface ChoiceProps {
  label: string
  value: string
  onChange(word: string): void
  children: ReactNode
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
    </div>
  )
}

interface TextProps extends Omit<ChoiceProps, 'children'> {
  wide?: boolean
  isNumber?: boolean
}

function Text({ label, value, onChange, wide, isNumber }: TextProps) {
  const id = useId()
  return (
    <div className={wide === true ? 'field content-rule-wide' : 'field'}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input mono"
        {...(isNumber === true ? { type: 'number', min: 1, step: 1 } : {})}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
