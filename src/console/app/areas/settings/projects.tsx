import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import {
  AddButton,
  Button,
  Dialog,
  Empty,
  Money,
  OperationButton,
  OperationForm,
  QueryFault,
  toast,
  UntrustedText,
} from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Loading } from '../../shell/page.tsx'
import { usePolicyUsage } from '../keys/key-usage.ts'
import { LimitBarList } from '../keys/limit-bars.tsx'
import type { UsedLimit } from '../keys/used-limits.ts'
import type { Environment, Project } from '../outputs.ts'
import { Section } from '../section.tsx'
import { EnvironmentRow } from './environment-row.tsx'
import { hasUsers, ScopeRefusal, useScopeUsers } from './scope-users.tsx'

export function Projects() {
  const projects = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const environments = useQuery(orpc.environments.list.queryOptions({ input: { all: true } }))
  const [adding, setAdding] = useState(false)
  const limits = [...usePolicyUsage().values()].flat()
  const spend = useQuery(orpc.requests.stats.queryOptions({ input: { since: spendSince, by: 'project' } }))
  const may = useMay('projects.add')
  const close = () => setAdding(false)
  return (
    <>
      <div className="row spread">
        <p className="quiet">
          Every key and route belongs to one environment of one project and is isolated from the others.
        </p>
        {may ? <AddButton onClick={() => setAdding(true)}>Add project</AddButton> : null}
      </div>
      {projects.isPending || environments.isPending ? <Loading /> : null}
      <QueryFault of={projects} />
      {projects.data?.length === 0 ? <Empty title="No projects yet" command="spgw projects add search" /> : null}
      {environments.error ? <QueryFault of={environments} /> : null}
      {(environments.data === undefined ? [] : (projects.data ?? [])).map((project) => (
        <ProjectSection
          key={project.id}
          project={project}
          environments={environments.data?.filter((one) => one.project === project.name) ?? []}
          limits={limits.filter((limit) => isOf(limit, project.name))}
          spent={spend.data?.find(({ group }) => group === project.name) ?? null}
        />
      ))}
      <Dialog open={adding} title="Add project" onClose={close}>
        <OperationForm
          operation="projects.add"
          submit="Add project"
          onCancel={close}
          onDone={(answer) => {
            toast({ tone: 'good', title: `Project "${(answer as Project).name}" added` })
            close()
          }}
        />
      </Dialog>
    </>
  )
}

const spendSince = '30d'

/** Its own and those of its environments; those of its keys are on the keys' pages. */
function isOf({ scope }: UsedLimit, project: string): boolean {
  return scope === `project:${project}` || scope.startsWith(`environment:${project}/`)
}

interface ProjectSectionProps {
  project: Project
  environments: readonly Environment[]
  limits: readonly UsedLimit[]
  /** Of the last 30 days; null: it had no requests. */
  spent: { usd: number | null } | null
}

function ProjectSection({ project, environments, limits, spent }: ProjectSectionProps) {
  const [panel, setPanel] = useState<'rename' | 'add' | null>(null)
  const close = () => setPanel(null)
  const done = (title: string) => () => {
    toast({ tone: 'good', title })
    close()
  }
  return (
    <Section
      title={project.name}
      actions={<ProjectActions project={project} hasEnvironments={environments.length > 0} onPanel={setPanel} />}
    >
      {environments.length === 0 ? (
        <NoEnvironment project={project} onPanel={setPanel} />
      ) : (
        <ul className="list" aria-label={`Environments of ${project.name}`}>
          {environments.map((environment) => (
            <EnvironmentRow key={environment.id} environment={environment} />
          ))}
        </ul>
      )}
      {limits.length === 0 && spent === null ? null : (
        <div className="card stack below-list">
          {spent === null ? null : (
            <p className="row spread">
              <span>
                Spent in the last 30 days:{' '}
                {spent.usd === null ? (
                  <span className="quiet">nothing that has a price</span>
                ) : (
                  <Money usd={spent.usd} />
                )}
              </span>
              <Link to="/" search={{ project: project.name, since: spendSince, by: 'model' }}>
                By model
              </Link>
            </p>
          )}
          {limits.length === 0 ? null : <LimitBarList limits={limits} detailed label={`Limits of ${project.name}`} />}
        </div>
      )}
      <Dialog open={panel === 'add'} title={`Add environment to ${project.name}`} onClose={close}>
        <OperationForm
          operation="environments.add"
          fixed={{ project: project.name }}
          submit="Add environment"
          onCancel={close}
          onDone={done('Environment added')}
        />
      </Dialog>
      <Dialog open={panel === 'rename'} title="Rename project" onClose={close}>
        <p className="quiet below">
          Existing requests keep the current name: <UntrustedText text={project.name} />.
        </p>
        <OperationForm
          operation="projects.edit"
          fixed={{ name: project.name }}
          initial={{ rename: project.name }}
          fields={['rename']}
          submit="Rename"
          onCancel={close}
          onDone={done('Project renamed')}
        />
      </Dialog>
    </Section>
  )
}

interface ProjectActionsProps {
  project: Project
  hasEnvironments: boolean
  onPanel(panel: 'rename' | 'add'): void
}

function NoEnvironment({ project, onPanel }: Pick<ProjectActionsProps, 'project' | 'onPanel'>) {
  return (
    <Empty
      title="No environments"
      action={<AddEnvironment project={project} onPanel={onPanel} />}
      command={`spgw environments add production --project ${project.name}`}
    >
      A project needs an environment for its keys and routes.
    </Empty>
  )
}

/** Where there is none yet, it stands with what says so. */
function AddEnvironment({ project, onPanel }: Pick<ProjectActionsProps, 'project' | 'onPanel'>) {
  if (!useMay('environments.add', project.name)) return null
  return (
    <Button small icon={<Plus size={14} aria-hidden="true" />} onClick={() => onPanel('add')}>
      Add environment
    </Button>
  )
}

function ProjectActions({ project, hasEnvironments, onPanel }: ProjectActionsProps) {
  const mayRename = useMay('projects.edit')
  const mayRemove = useMay('projects.remove')
  const users = useScopeUsers(project.name, null, mayRemove)
  return (
    <>
      {hasEnvironments ? <AddEnvironment project={project} onPanel={onPanel} /> : null}
      {mayRename ? (
        <Button small onClick={() => onPanel('rename')}>
          Rename
        </Button>
      ) : null}
      {mayRemove ? (
        <OperationButton
          small
          operation="projects.remove"
          owned={project.owned}
          input={{ name: project.name }}
          name={project.name}
          done={`Project "${project.name}" removed`}
          consequence={<p>Also removes its environments: {project.environments.join(', ') || 'none'}.</p>}
          {...(hasUsers(users)
            ? {
                refusal: (
                  <ScopeRefusal subject={`project ${project.name}`} users={users} scope={{ project: project.name }} />
                ),
              }
            : {})}
        >
          Remove
        </OperationButton>
      ) : null}
    </>
  )
}
