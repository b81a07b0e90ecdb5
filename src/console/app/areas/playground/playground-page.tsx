import { useQuery } from '@tanstack/react-query'
import { Send, Square } from 'lucide-react'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Button, CopyButton, Empty, FormFault } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { useScopeModels } from '../keys/use-scope-models.ts'
import { allModels, type ModelsByLane } from '../lane-models.ts'
import { ScopeFields, type ScopeValue } from '../scope-fields.tsx'
import { shellQuote } from '../shell-quote.ts'
import { useDefaultScope } from '../use-default-scope.ts'
import { Conversation } from './conversation.tsx'
import { Parameters } from './parameters.tsx'
import { blockedReason, bodyOf, continueDraft, type Draft, firstDraft, firstLane, pathOf } from './playground-state.ts'
import { RecordBeside } from './record-beside.tsx'
import { ResponseView } from './response-view.tsx'
import { useResponse } from './use-response.ts'

export function PlaygroundPage() {
  const may = useMay('requests.send')
  return (
    <Page title="Playground">
      {may ? (
        <Playground />
      ) : (
        <Empty title="Sending requests requires the admin role">
          See Requests for what others have sent, and Routing for how a request would be routed.
        </Empty>
      )}
    </Page>
  )
}

function Playground() {
  const defaultScope = useDefaultScope('requests.send')
  const [chosen, setChosen] = useState<ScopeValue | null>(null)
  const scope = chosen ?? defaultScope
  const exact = { project: scope.project, environment: scope.environment ?? 'production' }
  const models = useScopeModels(exact)
  if (models === null) return <Loading />
  return (
    <PlaygroundForm key={`${exact.project}/${exact.environment}`} scope={exact} onScope={setChosen} models={models} />
  )
}

interface PlaygroundFormProps {
  scope: { project: string; environment: string }
  onScope(scope: ScopeValue): void
  models: ModelsByLane
}

function PlaygroundForm({ scope, onScope, models }: PlaygroundFormProps) {
  const [draft, setDraft] = useState<Draft>(() => startDraft(models))
  const { answer, fault, busy, send, stop } = useResponse()
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { ...scope, all: false } }))
  const usable = (keys.data ?? []).filter(({ state }) => state === 'active')
  const why = blockedReason(draft)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  useEffect(() => {
    if (allModels(models).length > 0) setDraft((before) => (before.model === '' ? startDraft(models) : before))
  }, [models])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (why !== null || busy) return
    const { model, lane, key, streamed } = draft
    void send({ ...scope, model, lane, body: bodyOf(draft), whole: !streamed, ...(key === '' ? {} : { key }) })
  }
  return (
    <div className="playground">
      <form className="stack" onSubmit={submit}>
        <ScopeFields value={scope} onChange={onScope} operation="requests.send" />
        <Parameters draft={draft} onChange={change} models={models} place={scope} usable={usable} />
        <Conversation draft={draft} onChange={change} onSend={submit} />
        <RawRequest draft={draft} onChange={change} />
        <FormFault fault={fault} shown={[]} />
        <div className="row playground-send">
          {busy ? (
            <Button variant="danger" icon={<Square size={16} aria-hidden="true" />} onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button
              variant="primary"
              type="submit"
              icon={<Send size={16} aria-hidden="true" />}
              disabled={why !== null}
              title={why ?? undefined}
            >
              Send
            </Button>
          )}
          <span className="small quiet">
            {why ?? (
              <>
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> to send. This is a real request with its usual cost.
              </>
            )}
          </span>
        </div>
      </form>
      <div className="stack playground-answer">
        {answer === null ? (
          <Empty
            title="No response yet"
            command={`spgw requests send ${shellQuote(draft.model || 'MODEL')} 'Say hello.'`}
          >
            The response appears here, with its timing and its record.
          </Empty>
        ) : (
          <>
            <ResponseView
              answer={answer}
              onContinue={busy || draft.body !== null ? null : () => setDraft(continueDraft(draft, answer.text))}
            />
            {answer.begin === null || busy ? null : <RecordBeside id={answer.begin.request_id} />}
          </>
        )}
      </div>
    </div>
  )
}

function startDraft(models: ModelsByLane): Draft {
  const lane = firstLane(models)
  return { ...firstDraft, lane, model: models[lane][0] ?? '' }
}

/** What will be sent, as it is. Changed by hand it is sent so, and the controls above no longer count. */
export function RawRequest({ draft, onChange }: { draft: Draft; onChange(part: Partial<Draft>): void }) {
  const id = useId()
  const body = bodyOf(draft)
  return (
    <details className="fold">
      <summary>Raw request</summary>
      <div className="stack-tight below">
        <div className="row spread">
          <code className="breakable grow">POST {pathOf(draft)}</code>
          <CopyButton text={body} label="Copy body" />
        </div>
        <label htmlFor={id} className="visually-hidden">
          Body
        </label>
        <textarea
          id={id}
          className="input mono"
          rows={Math.min(18, body.split('\n').length + 1)}
          spellCheck={false}
          value={body}
          onChange={(event) => onChange({ body: event.target.value })}
        />
        {draft.body === null ? null : (
          <p className="row small">
            Edited by hand. This body is sent, and the fields above are ignored.
            <Button small onClick={() => onChange({ body: null })}>
              Discard edits
            </Button>
          </p>
        )}
      </div>
    </details>
  )
}
