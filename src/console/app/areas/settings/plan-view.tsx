import { Minus, Pencil, Plus } from 'lucide-react'
import { consoleWords } from '../../client/console-words.ts'
import { Code, UntrustedText } from '../../parts/index.ts'
import { labelOf } from '../../parts/labels.ts'
import { DifferenceTable } from '../difference-table.tsx'
import type { Applied, DiffPlan } from '../outputs.ts'
import { pluralize } from '../units.ts'
import { fileOptions } from './file-state.ts'

const signs = {
  create: <Plus size={14} aria-hidden="true" />,
  change: <Pencil size={14} aria-hidden="true" />,
  remove: <Minus size={14} aria-hidden="true" />,
} as const

/** The plan is worded for the command line: here its flags have other names. */
function withLabels(text: string): string {
  return consoleWords(
    text
      .replace('--prune removes them', `tick “${fileOptions.prune}” to remove them`)
      .replace('add --force', `tick “${fileOptions.force}”`),
  )
}

/** Each change in the order in which it would be made, by sign and word. */
export function PlanView({ plan }: { plan: DiffPlan }) {
  return (
    <div className="stack plan" role="status">
      {plan.problems.length === 0 ? null : (
        <div className="notice notice-bad">
          <ul className="grow">
            {plan.problems.map(({ place, message }) => (
              <li key={`${place}${message}`}>
                <code>{place}</code> <UntrustedText text={withLabels(message)} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {plan.notes.map((note) => (
        <p key={note} className="quiet">
          <UntrustedText text={withLabels(note)} />
        </p>
      ))}
      {plan.changes.length === 0 && plan.problems.length === 0 ? (
        <p className="notice notice-good">No changes. The configuration already matches the file.</p>
      ) : (
        <ol className="list">
          {plan.changes.map((change) => (
            <li key={`${change.kind}/${change.project}/${change.environment}/${change.name}`} className="plan-change">
              <details>
                <summary className={`plan-${change.action}`}>
                  {signs[change.action]} {labelOf(change.action)} {change.kind}{' '}
                  <b>
                    <UntrustedText text={change.name} />
                  </b>
                  {change.project === null ? null : (
                    <span className="quiet">
                      {' '}
                      in {change.project}
                      {change.environment === null ? null : `/${change.environment}`}
                    </span>
                  )}
                </summary>
                <DifferenceTable
                  differences={change.fields.map(({ field, before, after }) => ({
                    path: field,
                    before: textOf(before),
                    after: textOf(after),
                  }))}
                  same="No field changes."
                />
              </details>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What was done; keys and signing secrets that were made new are shown here, and nowhere else. */
export function AppliedView({ applied }: { applied: Applied }) {
  return (
    <div className="notice notice-good below" role="status">
      <div className="grow stack-tight">
        <p className="notice-title">{pluralize(applied.changes.length, 'change')} applied</p>
        {applied.keys.map((key) => (
          <div key={key.id}>
            <p>
              Key {key.name} in {key.project}/{key.environment}, shown only once:
            </p>
            <Code text={key.key} />
          </div>
        ))}
        {applied.alerts.map((alert) => (
          <div key={alert.id}>
            <p>Signing secret of alert {alert.name}, shown only once:</p>
            <Code text={alert.secret} />
          </div>
        ))}
      </div>
    </div>
  )
}
