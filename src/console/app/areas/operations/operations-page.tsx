import { Link } from '@tanstack/react-router'
import { operationsByNoun } from '../../contract/operations.ts'
import { useMayCall } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Page } from '../../shell/page.tsx'

const effects = { read: 'Read', write: 'Write', danger: 'Dangerous' } as const

/** Every operation of the contract, by noun: what has no place of its own elsewhere is done here. */
export function OperationsPage() {
  const may = useMayCall()
  const nouns = operationsByNoun(({ name }) => may(name))
  return (
    <Page title="All operations" above={<Link to="/settings">Settings</Link>}>
      <p className="quiet">Every operation that you can run, the same as on the command line.</p>
      <div className="stack operations">
        {nouns.map(([noun, operations]) => (
          <section key={noun}>
            <h2>{noun.replaceAll('.', ' ')}</h2>
            <ul className="list">
              {operations.map(({ name, path, meta }) => (
                <li key={name} className="list-row">
                  <Link to="/settings/operations/$operation" params={{ operation: name }} search={keepScope}>
                    <code>{path.join(' ')}</code>
                  </Link>
                  <span className="grow">{meta.summary}</span>
                  <span className="small quiet nowrap">
                    {effects[meta.effect]} · {meta.role}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Page>
  )
}
