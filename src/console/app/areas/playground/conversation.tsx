import { Plus, X } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useId } from 'react'
import { Button, IconButton } from '../../parts/index.ts'
import type { Draft, DraftTurn } from './playground-state.ts'

export interface ConversationProps {
  draft: Draft
  onChange(part: Partial<Draft>): void
  onSend(event: FormEvent): void
}

const roles = { user: 'User', assistant: 'Assistant' } as const

export function Conversation({ draft, onChange, onSend }: ConversationProps) {
  const id = useId()
  const { turns, system } = draft
  const setTurns = (next: DraftTurn[]) => onChange({ turns: next, body: null })
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend(event)
  }
  const add = () => {
    const last = turns.at(-1)
    setTurns([...turns, { id: (last?.id ?? 0) + 1, role: last?.role === 'user' ? 'assistant' : 'user', text: '' }])
  }
  return (
    <div className="stack-tight">
      <div className="field">
        <label htmlFor={`${id}-system`}>
          System prompt <span className="quiet">(optional)</span>
        </label>
        <textarea
          id={`${id}-system`}
          className="input"
          rows={rowsFor(system, 1)}
          value={system}
          onKeyDown={press}
          onChange={(event) => onChange({ system: event.target.value, body: null })}
        />
      </div>
      {turns.map((turn) => (
        <div key={turn.id} className="field turn">
          <div className="row spread">
            <label htmlFor={`${id}-${turn.id}`}>{roles[turn.role]}</label>
            {turns.length > 1 ? (
              <IconButton
                small
                label={`Remove ${turn.role} message`}
                icon={<X size={14} aria-hidden="true" />}
                onClick={() => setTurns(turns.filter((one) => one.id !== turn.id))}
              />
            ) : null}
          </div>
          <textarea
            id={`${id}-${turn.id}`}
            className="input"
            rows={rowsFor(turn.text, 2)}
            value={turn.text}
            onKeyDown={press}
            onChange={(event) =>
              setTurns(turns.map((one) => (one.id === turn.id ? { ...one, text: event.target.value } : one)))
            }
          />
        </div>
      ))}
      <div>
        <Button small icon={<Plus size={14} aria-hidden="true" />} onClick={add}>
          Add message
        </Button>
      </div>
    </div>
  )
}

function rowsFor(text: string, least: number): number {
  return Math.min(10, Math.max(least, text.split('\n').length, Math.ceil(text.length / 70)))
}
