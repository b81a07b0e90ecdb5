import { Link } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import { laneNames } from '../../../../core/lane.ts'
import { Button, Duration, FormFault, RecordView, StateBadge, UntrustedText, useOperation } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Route, Trial } from '../outputs.ts'

/** Sends one small real request, at its usual cost, and shows the result. */
export function TryRoute({ route, model: sample }: { route: Route; model: string }) {
  const id = useId()
  const [model, setModel] = useState(sample)
  const [lane, setLane] = useState('')
  const [trial, setTrial] = useState<Trial | null>(null)
  const { call, busy, fault } = useOperation('routes.test')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTrial(null)
    const scope = { project: route.project, ...(route.environment === null ? {} : { environment: route.environment }) }
    setTrial((await call({ model, ...scope, ...(lane === '' ? {} : { lane }) })) as Trial | null)
  }
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <p className="quiet">Sends “Say hello.” through the gateway, as a key of this project and environment would.</p>
      <div className="field-pair">
        <div className="field">
          <label htmlFor={`${id}-model`}>Model</label>
          <input
            id={`${id}-model`}
            className="input"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-lane`}>Lane</label>
          <select id={`${id}-lane`} className="input" value={lane} onChange={(event) => setLane(event.target.value)}>
            <option value="">Automatic</option>
            {laneNames.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
      </div>
      <div>
        <Button variant="primary" type="submit" busy={busy}>
          Send test request
        </Button>
      </div>
      <FormFault fault={fault} shown={[]} />
      <div role="status">{trial === null ? null : <TrialResult trial={trial} />}</div>
    </form>
  )
}

function TrialResult({ trial }: { trial: Trial }) {
  const { ok, status, error, provider, upstream_model, duration_ms, request_id, lane } = trial
  return (
    <div className="stack-tight">
      <p className="row">
        <StateBadge state={ok ? 'ok' : 'failed'} />
        <b>{ok ? 'The route works.' : 'The request failed.'}</b>
      </p>
      {error === null ? null : (
        <p className="breakable">
          <code>{error.code}</code>: <UntrustedText text={error.message} />
        </p>
      )}
      <RecordView
        entries={[
          { label: 'Status', value: <StateBadge state={status} /> },
          { label: 'Lane', value: lane },
          {
            label: 'Served by',
            value: <UntrustedText text={provider === null ? null : `${provider}, ${upstream_model ?? ''}`} />,
          },
          { label: 'Duration', value: <Duration ms={duration_ms} /> },
          {
            label: 'Request',
            value: (
              <Link to="/requests/$id" params={{ id: request_id }} search={keepScope}>
                <code>{request_id}</code>
              </Link>
            ),
          },
        ]}
      />
    </div>
  )
}
