import { type FormEvent, useId, useState } from 'react'
import { Button, FormFault, OperationForm, toast, useOperation } from '../../parts/index.ts'
import type { Operator } from '../outputs.ts'

const roles = ['owner', 'admin', 'viewer'] as const

/** One role for the workspace, or one for each of several projects. */
export function OperatorRoles({ operator, projects }: { operator: Operator; projects: readonly string[] }) {
  const { call, busy } = useOperation('operators.edit')
  const revoke = (grant: Operator['grants'][number]) =>
    call({ name: operator.name, role: 'none', ...(grant.project === null ? {} : { projects: [grant.project] }) })
  return (
    <div className="stack">
      {operator.grants.length === 0 ? (
        <p className="quiet">No role. Can sign in, but sees nothing.</p>
      ) : (
        <ul className="list" aria-label="Roles">
          {operator.grants.map((grant) => (
            <li key={grant.project ?? ''} className="list-row">
              <span className="grow">
                <b>{grant.role}</b>{' '}
                {grant.project === null ? 'for the whole workspace' : `for project ${grant.project}`}
              </span>
              <Button small busy={busy} onClick={() => void revoke(grant)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <GrantRole operator={operator} projects={projects} />
      <details className="fold">
        <summary>Name</summary>
        <OperationForm
          operation="operators.edit"
          fixed={{ name: operator.name }}
          initial={{ rename: operator.name, displayName: operator.display_name }}
          fields={['rename', 'displayName']}
          submit="Save"
          onDone={() => toast({ tone: 'good', title: 'Saved' })}
        />
      </details>
    </div>
  )
}

function GrantRole({ operator, projects }: { operator: Operator; projects: readonly string[] }) {
  const id = useId()
  const [project, setProject] = useState('')
  const [role, setRole] = useState<string>('viewer')
  const { call, busy, fault } = useOperation('operators.edit')
  const grant = async (event: FormEvent) => {
    event.preventDefault()
    const where = project === '' ? {} : { projects: [project] }
    if ((await call({ name: operator.name, role, ...where })) !== null) toast({ tone: 'good', title: 'Roles updated' })
  }
  return (
    <form className="stack-tight" onSubmit={(event) => void grant(event)}>
      <div className="field-pair">
        <div className="field">
          <label htmlFor={`${id}-role`}>Role</label>
          <select id={`${id}-role`} className="input" value={role} onChange={(event) => setRole(event.target.value)}>
            {roles.map((word) => (
              <option key={word}>{word}</option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}-project`}>Scope</label>
          <select
            id={`${id}-project`}
            className="input"
            value={project}
            onChange={(event) => setProject(event.target.value)}
          >
            <option value="">Whole workspace</option>
            {projects.map((name) => (
              <option key={name} value={name}>
                Project {name}
              </option>
            ))}
          </select>
        </div>
      </div>
      <FormFault fault={fault} shown={[]} />
      <div>
        <Button variant="primary" type="submit" busy={busy}>
          Grant role
        </Button>
      </div>
    </form>
  )
}
