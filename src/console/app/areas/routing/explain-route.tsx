import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { LaneName } from '../../../../core/lane.ts'
import { orpc } from '../../client/admin.ts'
import { QueryFault, StateBadge, UntrustedText } from '../../parts/index.ts'
import type { Explanation, Route } from '../outputs.ts'
import { type ReadBody, readBody } from './explain-body.ts'
import { type ExplainStep, explainSteps } from './explain-steps.ts'
import { ModelAndLane } from './model-and-lane.tsx'

/** Pick a key and a body, or only a model; the steps that a request would take, in words. Nothing is sent. */
export function ExplainRoute({ route, model: sample }: { route: Route; model: string }) {
  const id = useId()
  const scope = { project: route.project, environment: route.environment ?? 'production' }
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { ...scope, all: route.environment === null } }))
  const [model, setModel] = useState(sample)
  const [lane, setLane] = useState<LaneName | ''>('')
  const [key, setKey] = useState('')
  const [body, setBody] = useState('')
  const read: ReadBody = readBody(body)
  const requested = read.model ?? model
  const chosen = keys.data?.find((one) => one.id === key)
  const explained = useQuery({
    ...orpc.routes.explain.queryOptions({
      input: {
        model: requested,
        project: route.project,
        environment: chosen?.environment ?? scope.environment,
        ...(key === '' ? {} : { key }),
        ...(body.trim() === '' || read.fault !== null ? {} : { body: { body } }),
        ...((read.lane ?? lane) === '' ? {} : { lane: (read.lane ?? lane) as LaneName }),
      },
    }),
    enabled: requested !== '',
    staleTime: 0,
  })
  const usable = (keys.data ?? []).filter(({ project, state }) => project === route.project && state === 'active')
  return (
    <div className="stack">
      <div className="field">
        <label htmlFor={`${id}-key`}>Key</label>
        <select id={`${id}-key`} className="input" value={key} onChange={(event) => setKey(event.target.value)}>
          <option value="">Any key, without its own policy</option>
          {usable.map(({ id: keyId, name, environment, last_four }) => (
            <option key={keyId} value={keyId}>
              {name} …{last_four} ({environment})
            </option>
          ))}
        </select>
      </div>
      <RequestFields
        read={read}
        requested={requested}
        lane={lane}
        body={body}
        onModel={setModel}
        onLane={setLane}
        onBody={setBody}
      />
      <QueryFault of={explained} />
      {explained.data === undefined ? null : <Steps explanation={explained.data} />}
    </div>
  )
}

export interface RequestFieldsProps {
  read: ReadBody
  requested: string
  lane: LaneName | ''
  body: string
  onModel(model: string): void
  onLane(lane: LaneName | ''): void
  onBody(body: string): void
}

/** What the body says itself cannot be said otherwise beside it. */
function RequestFields({ read, requested, lane, body, onModel, onLane, onBody }: RequestFieldsProps) {
  const id = useId()
  return (
    <>
      <ModelAndLane
        model={requested}
        lane={read.lane ?? lane}
        isModelGiven={read.model !== null}
        isLaneGiven={read.lane !== null}
        onModel={onModel}
        onLane={onLane}
      />
      <div className="field">
        <label htmlFor={`${id}-body`}>
          Body <span className="quiet">(optional)</span>
        </label>
        <textarea
          id={`${id}-body`}
          className="input mono"
          rows={4}
          spellCheck={false}
          value={body}
          aria-describedby={`${id}-body-hint`}
          onChange={(event) => onBody(event.target.value)}
        />
        <p id={`${id}-body-hint`} className="small quiet">
          {read.fault ?? 'Paste a request body to read its model and lane. Nothing is sent.'}
        </p>
      </div>
    </>
  )
}

export function Steps({ explanation }: { explanation: Explanation }) {
  return (
    <ol className="explain-steps" aria-label="Steps">
      {explainSteps(explanation).map((step) => (
        <StepRow key={step.key} step={step} />
      ))}
    </ol>
  )
}

function StepRow({ step: { word, tone, text, detail } }: { step: ExplainStep }) {
  return (
    <li className="explain-step">
      <StateBadge state={word} tone={tone} />
      <div className="grow">
        <p className="breakable">
          <UntrustedText text={text} />
        </p>
        {detail === null ? null : (
          <p className="small quiet breakable">
            <UntrustedText text={detail} />
          </p>
        )}
      </div>
    </li>
  )
}
