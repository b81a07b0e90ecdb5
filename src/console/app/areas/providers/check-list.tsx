import { Circle, CircleCheck, CircleX, LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { consoleWords } from '../../client/console-words.ts'
import { Button, UntrustedText } from '../../parts/index.ts'
import type { Check } from '../outputs.ts'
import { type CheckOutcome, type CheckStep, checkSteps, suggestedBaseUrl } from './check-steps.ts'

const icons = {
  done: <CircleCheck size={16} aria-hidden="true" />,
  failed: <CircleX size={16} aria-hidden="true" />,
  running: <LoaderCircle size={16} className="spin" aria-hidden="true" />,
  waiting: <Circle size={16} aria-hidden="true" />,
} as const

/** The steps of a check; an error is shown at its step. */
export function CheckList({ outcome, onBaseUrl }: { outcome: CheckOutcome | null; onBaseUrl?: (url: string) => void }) {
  const suggested = outcome === null ? null : suggestedBaseUrl(outcome.message)
  return (
    <div role="status">
      <ol className="check-list" aria-label="Check">
        {checkSteps(outcome).map((step) => (
          <Step key={step.title} step={step}>
            {step.state === 'failed' && suggested !== null && onBaseUrl !== undefined ? (
              <Button small onClick={() => onBaseUrl(suggested)}>
                Use {suggested}
              </Button>
            ) : null}
          </Step>
        ))}
      </ol>
    </div>
  )
}

function Step({ step: { title, state, note }, children }: { step: CheckStep; children: ReactNode }) {
  return (
    <li className={`check-step check-${state}`}>
      {icons[state]}
      <div className="grow">
        <p>
          {title}
          <span className="visually-hidden">: {state}</span>
        </p>
        {note === null ? null : (
          <p className="small breakable">
            <UntrustedText text={consoleWords(note)} />
          </p>
        )}
        {children}
      </div>
    </li>
  )
}

/** What the provider said to each credential of a pool; of a single one the steps have said it. */
export function PoolCheck({ credentials }: { credentials: Check['credentials'] }) {
  if (credentials.length < 2) return null
  return (
    <ul className="check-list" aria-label="Credentials">
      {credentials.map(({ id, last_four, ok, message }) => (
        <li key={id} className={`check-step check-${ok ? 'done' : 'failed'}`}>
          {ok ? <CircleCheck size={16} aria-hidden="true" /> : <CircleX size={16} aria-hidden="true" />}
          <div className="grow">
            <p>
              Credential <code>{last_four === '' ? id : `…${last_four}`}</code>
              <span className="visually-hidden">: {ok ? 'passed' : 'failed'}</span>
            </p>
            {ok ? null : (
              <p className="small breakable">
                <UntrustedText text={consoleWords(message)} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
