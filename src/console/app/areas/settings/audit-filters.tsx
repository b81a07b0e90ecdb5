import { useId, useState } from 'react'
import { operations } from '../../contract/operations.ts'

export interface AuditFilterValues {
  actor?: string
  operation?: string
  resource?: string
  since?: string
}

const fields = [
  { name: 'operation', label: 'Operation', placeholder: 'keys.revoke' },
  { name: 'resource', label: 'Resource', placeholder: 'Name or ID' },
  { name: 'actor', label: 'Actor', placeholder: 'Operator or token' },
  { name: 'since', label: 'Since', placeholder: '7d' },
] as const

/** What was typed counts when the field is left, or with Enter: each letter would be a question. */
export function AuditFilters({
  values,
  onChange,
}: {
  values: AuditFilterValues
  onChange(values: AuditFilterValues): void
}) {
  const id = useId()
  const [typed, setTyped] = useState<AuditFilterValues>(values)
  const apply = () => {
    const given = Object.fromEntries(Object.entries(typed).filter(([, text]) => text.trim() !== ''))
    if (JSON.stringify(given) !== JSON.stringify(values)) onChange(given)
  }
  return (
    <form
      className="audit-filters"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      {fields.map(({ name, label, placeholder }) => (
        <div key={name} className="field">
          <label htmlFor={`${id}-${name}`} className="small">
            {label}
          </label>
          <input
            id={`${id}-${name}`}
            className="input"
            placeholder={placeholder}
            autoComplete="off"
            list={name === 'operation' ? `${id}-operations` : undefined}
            value={typed[name] ?? ''}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
            onBlur={apply}
          />
        </div>
      ))}
      <datalist id={`${id}-operations`}>
        {operations
          .filter(({ meta }) => meta.effect !== 'read')
          .map(({ name }) => (
            <option key={name} value={name} />
          ))}
      </datalist>
      <input type="submit" className="visually-hidden" value="Filter" tabIndex={-1} />
    </form>
  )
}
