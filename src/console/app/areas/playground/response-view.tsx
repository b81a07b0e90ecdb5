import { Reply } from 'lucide-react'
import { useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { Button, CopyButton, Duration, StateBadge, Tabs } from '../../parts/index.ts'
import { type PlaygroundResponse, refusalOf } from './playground-response.ts'

type ResponseTab = 'text' | 'response' | 'request'

const tabs: { value: ResponseTab; title: string }[] = [
  { value: 'text', title: 'Response' },
  { value: 'response', title: 'Raw response' },
  { value: 'request', title: 'Raw request' },
]

export function ResponseView({ answer, onContinue }: { answer: PlaygroundResponse; onContinue: (() => void) | null }) {
  const [view, setView] = useState<ResponseTab>('text')
  const { begin, state, error } = answer
  return (
    <section className="card" aria-label="Response">
      <div className="row spread card-head">
        <span className="row">
          {begin === null ? (
            <StateBadge state="waiting" tone="strong" busy />
          ) : (
            <StateBadge state={begin.status} busy={state === 'coming'} />
          )}
          <span className="quiet">{isRefused(answer) && state === 'ended' ? 'Failed' : words[state]}</span>
        </span>
        <span className="row number small">
          {answer.firstTextMs === null && answer.durationMs === null ? null : (
            <span className="quiet">Measured in this browser:</span>
          )}
          {answer.firstTextMs === null ? null : (
            <span>
              first text <Duration ms={answer.firstTextMs} />
            </span>
          )}
          {answer.durationMs === null ? null : (
            <span>
              total <Duration ms={answer.durationMs} />
            </span>
          )}
        </span>
      </div>
      {error === null ? null : (
        <p className="notice notice-bad" role="alert">
          Response interrupted: {escapeControls(error)}
        </p>
      )}
      <Tabs<ResponseTab> label="Response" tabs={tabs} value={view} onChange={setView}>
        {view === 'text' ? <AnswerText answer={answer} onContinue={onContinue} /> : null}
        {view === 'response' ? <Raw head={headOf(answer)} body={answer.raw} /> : null}
        {view === 'request' ? <Raw head={`POST ${begin?.path ?? ''}`} body={begin?.request_body ?? ''} /> : null}
      </Tabs>
    </section>
  )
}

const words: Record<PlaygroundResponse['state'], string> = {
  waiting: 'Waiting for the first byte',
  coming: 'Streaming',
  ended: 'Completed',
  stopped: 'Stopped by you',
  failed: 'Interrupted',
}

function isRefused({ begin }: PlaygroundResponse): boolean {
  return begin !== null && begin.status >= 400
}

/** A model may answer anything: lines stay, turning marks and escapes are written out. */
function AnswerText({ answer, onContinue }: { answer: PlaygroundResponse; onContinue: (() => void) | null }) {
  const { text, raw, state } = answer
  if (isRefused(answer)) {
    const refusal = refusalOf(answer)
    if (refusal === null) return <Raw head={headOf(answer)} body={raw} />
    return (
      <div className="answer-text" role="alert">
        <bdi>{shown(refusal)}</bdi>
      </div>
    )
  }
  return (
    <div className="stack-tight">
      <div className="answer-text" aria-live="polite" aria-busy={state === 'coming'}>
        {text === '' ? (
          <span className="quiet">{state === 'ended' ? 'The response has no text. See the raw response.' : '…'}</span>
        ) : (
          <bdi>{shown(text)}</bdi>
        )}
      </div>
      {text === '' || state === 'coming' ? null : (
        <div className="row">
          <CopyButton text={text} label="Copy response" />
          {onContinue === null ? null : (
            <Button small icon={<Reply size={14} aria-hidden="true" />} onClick={onContinue}>
              Continue conversation
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function Raw({ head, body }: { head: string; body: string }) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section className="answer-raw" aria-label="Raw content" tabIndex={0}>
        <pre>
          <code>
            {shown(head)}
            {'\n\n'}
            {shown(body)}
          </code>
        </pre>
      </section>
      <CopyButton text={body} />
    </div>
  )
}

function headOf({ begin }: PlaygroundResponse): string {
  if (begin === null) return ''
  return [`HTTP ${begin.status}`, ...Object.entries(begin.headers).map(([name, value]) => `${name}: ${value}`)].join(
    '\n',
  )
}

function shown(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}
