import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { LaneName } from '../../../../core/lane.ts'
import { Button, Duration, FormFault, RecordView, StateBadge, UntrustedText, useOperation } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Route, Trial } from '../outputs.ts'
import { ModelAndLane } from './model-and-lane.tsx'

/** Sends one small real request, at its usual cost, and shows the result. */
export function TryRoute({ route, model: sample }: { route: Route; model: string }) {
  const [model, setModel] = useState(sample)
  const [lane, setLane] = useState<LaneName | ''>('')
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
      <ModelAndLane model={model} lane={lane} onModel={setModel} onLane={setLane} />
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
