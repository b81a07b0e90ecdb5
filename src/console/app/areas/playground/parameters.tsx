import { useId } from 'react'
import { type LaneName, laneNames } from '../../../../core/lane.ts'
import type { ModelsByLane } from '../lane-models.ts'
import type { Key } from '../outputs.ts'
import { pluralize } from '../units.ts'
import type { Draft } from './playground-state.ts'

export interface ParametersProps {
  draft: Draft
  onChange(part: Partial<Draft>): void
  models: ModelsByLane
  /** Of which project and environment they are. */
  place: { project: string; environment: string }
  usable: readonly Key[]
}

const laneTitles: Record<LaneName, string> = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Gemini' }

export function Parameters({ draft, onChange, models, place, usable }: ParametersProps) {
  const chooseLane = (lane: LaneName) => {
    const known = models[lane]
    onChange({ lane, body: null, ...(known.includes(draft.model) ? {} : { model: known[0] ?? draft.model }) })
  }
  return (
    <>
      <fieldset className="field">
        <legend>Lane</legend>
        <div className="segments">
          {laneNames.map((lane) => (
            <label key={lane} className="segment">
              <input type="radio" name="lane" checked={lane === draft.lane} onChange={() => chooseLane(lane)} />
              <span>{laneTitles[lane]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <div className="field-pair">
        <ModelField draft={draft} onChange={onChange} models={models} place={place} />
        <KeyField draft={draft} onChange={onChange} usable={usable} />
      </div>
      <div className="field-triple">
        <NumberField
          label="Max tokens"
          value={draft.maxTokens}
          onText={(maxTokens) => onChange({ maxTokens, body: null })}
        />
        <NumberField
          label="Temperature"
          value={draft.temperature}
          onText={(temperature) => onChange({ temperature, body: null })}
        />
        <label className="check playground-stream">
          <input
            type="checkbox"
            checked={draft.streamed}
            onChange={(event) => onChange({ streamed: event.target.checked, body: null })}
          />
          Stream
        </label>
      </div>
    </>
  )
}

function ModelField({ draft, onChange, models, place }: Omit<ParametersProps, 'usable'>) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={`${id}-model`}>Model</label>
      <input
        id={`${id}-model`}
        className="input"
        list={`${id}-models`}
        autoComplete="off"
        spellCheck={false}
        value={draft.model}
        onChange={(event) => onChange({ model: event.target.value, body: null })}
      />
      <datalist id={`${id}-models`}>
        {models[draft.lane].slice(0, 300).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p className="small quiet">
        {models[draft.lane].length === 0
          ? `No route in ${place.project}/${place.environment} serves the ${laneTitles[draft.lane]} lane yet.`
          : `${pluralize(models[draft.lane].length, 'model')} available`}
      </p>
    </div>
  )
}

function KeyField({ draft, onChange, usable }: Omit<ParametersProps, 'models' | 'place'>) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={`${id}-key`}>Send as key</label>
      <select
        id={`${id}-key`}
        className="input"
        value={draft.key}
        aria-describedby={`${id}-key-hint`}
        onChange={(event) => onChange({ key: event.target.value })}
      >
        <option value="">No key</option>
        {usable.map((key) => (
          <option key={key.id} value={key.id}>
            {key.name} …{key.last_four}
          </option>
        ))}
      </select>
      <p id={`${id}-key-hint`} className="small quiet">
        Limits, policies and records apply as if this key had sent the request.
      </p>
    </div>
  )
}

function NumberField({ label, value, onText }: { label: string; value: string; onText(text: string): void }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} <span className="quiet">(optional)</span>
      </label>
      <input
        id={id}
        className="input"
        inputMode="decimal"
        placeholder="Provider default"
        value={value}
        onChange={(event) => onText(event.target.value)}
      />
    </div>
  )
}
