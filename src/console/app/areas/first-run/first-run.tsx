import { Link } from '@tanstack/react-router'
import { ArrowRight, Check, Circle } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Code, LinkButton } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { KeyStep, ProviderStep, RequestStep, RouteStep } from './first-run-steps.tsx'
import { modelToTry, type SetUp, type StepName } from './set-up.ts'

/** The steps to the first request. Each checks itself off, on whichever surface it is done. */
export function FirstRun({ setUp }: { setUp: SetUp }) {
  // The key is shown once: it is kept here, for the lines of the next step, and nowhere else.
  const [key, setKey] = useState<string | null>(null)
  const { done, next } = setUp
  const count = 1 + Object.values(done).filter((one) => one).length
  const model = modelToTry(setUp.routes)
  const step = (name: StepName, title: string, hint: string, body: ReactNode) => (
    <Step title={title} hint={hint} state={done[name] ? 'done' : next === name ? 'next' : 'open'}>
      {body}
    </Step>
  )
  return (
    <section className="first-run" aria-labelledby="first-run-title">
      <header className="row spread first-run-head">
        <h2 id="first-run-title">{next === null ? 'Setup complete' : 'Get to your first request'}</h2>
        <span className="quiet number">
          {count} of {Object.keys(done).length + 1}
        </span>
      </header>
      <ol>
        <Step title="Signed in" hint="" state="done" />
        {step('provider', 'Add a provider', 'Where requests are sent', <ProviderStep />)}
        {step(
          'route',
          'Confirm a route',
          "Suggested from the provider's models",
          <RouteStep providers={setUp.providers} />,
        )}
        {step('key', 'Create a key', 'Shown only once', <KeyStep onKey={setKey} />)}
        {step(
          'request',
          'Send a request',
          'curl · JavaScript · Python',
          <RequestStep secret={key} model={model} onKey={setKey} />,
        )}
        {step('see', 'See it here', 'Checked off when your first request arrives', null)}
      </ol>
      {setUp.requestId === null ? null : <Seen id={setUp.requestId} />}
      {key !== null && done.request ? (
        <div className="stack-tight first-run-foot">
          <p>Your key is shown only once, until you leave this page.</p>
          <Code text={key} label="Copy key" />
        </div>
      ) : null}
    </section>
  )
}

function Seen({ id }: { id: string }) {
  return (
    <div className="row first-run-foot">
      <LinkButton
        variant="primary"
        to="/requests/$id"
        params={{ id }}
        search={keepScope}
        icon={<ArrowRight size={14} aria-hidden="true" />}
      >
        Open request
      </LinkButton>
      <Link to="/requests" search={keepScope}>
        All requests
      </Link>
    </div>
  )
}

const signs = {
  done: <Check size={16} aria-label="Done" />,
  next: <ArrowRight size={16} aria-label="Next" />,
  open: <Circle size={16} aria-label="To do" />,
}

interface StepProps {
  title: string
  hint: string
  state: keyof typeof signs
  children?: ReactNode
}

function Step({ title, hint, state, children }: StepProps) {
  return (
    <li className={`step step-${state}`} aria-current={state === 'next' ? 'step' : undefined}>
      <span className="step-sign">{signs[state]}</span>
      <div className="grow">
        <p className="row">
          <b>{title}</b>
          {hint === '' || state === 'done' ? null : <span className="quiet">{hint}</span>}
        </p>
        {state === 'next' && children ? <div className="step-body">{children}</div> : null}
      </div>
    </li>
  )
}
