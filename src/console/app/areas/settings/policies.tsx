import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { orpc } from '../../client/admin.ts'
import {
  AddButton,
  Button,
  Dialog,
  Empty,
  OperationButton,
  OperationForm,
  QueryFault,
  toast,
  useOperation,
} from '../../parts/index.ts'
import { useMay, useMayCall } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading } from '../../shell/page.tsx'
import { usePolicyUsage } from '../keys/key-usage.ts'
import { UncountedBudgets } from '../keys/uncounted-budgets.tsx'
import { useListFilter } from '../list-filter.tsx'
import type { Key, Policy } from '../outputs.ts'
import { pluralize } from '../units.ts'
import { ContentRulesField } from './content-rules-field.tsx'
import { inputOfPolicy, policyFields, projectsOfPolicy } from './policy-fields.ts'
import { PolicySection } from './policy-section.tsx'
import { TryRules } from './try-rules.tsx'

export function Policies() {
  const policies = useQuery(orpc.policies.list.queryOptions({ input: {} }))
  const { add: wanted }: { add?: string } = useSearch({ strict: false })
  const usage = usePolicyUsage()
  const filter = useListFilter(policies.data ?? [], 'policies', (policy) => [
    policy.name,
    ...policy.attached_to,
    ...policy.held_by,
  ])
  const [edited, setEdited] = useState<Policy | 'new' | null>(wanted === undefined ? null : 'new')
  const [granted, setGranted] = useState<Policy | null>(null)
  const [tried, setTried] = useState<Policy | null>(null)
  const may = useMay('policies.add')
  const mayChange = useMayChange()
  const close = () => setEdited(null)
  const add = may ? <AddButton onClick={() => setEdited('new')}>Add policy</AddButton> : null
  return (
    <>
      <div className="row spread">
        <p className="quiet grow">
          A policy is attached to the workspace, a project, an environment or a key. Where several apply, the strictest
          one wins.
        </p>
        {policies.data?.length === 0 ? null : add}
      </div>
      <BudgetNotices policies={(policies.data ?? []).filter(hasBudget)} />
      {policies.isPending ? <Loading /> : null}
      <QueryFault of={policies} />
      {policies.data?.length === 0 ? <NoPolicies add={add} /> : null}
      {filter.field}
      {filter.shown.length === 0 ? filter.none : null}
      {filter.shown.map((policy) => (
        <PolicySection
          key={policy.id}
          policy={policy}
          limits={usage.get(policy.name) ?? null}
          buttons={
            <>
              <Button small onClick={() => setTried(policy)}>
                Try rules
              </Button>
              {mayChange(policy) ? (
                <PolicyButtons policy={policy} onEdit={() => setEdited(policy)} onGrant={() => setGranted(policy)} />
              ) : null}
            </>
          }
        />
      ))}
      <Dialog
        open={edited !== null}
        title={edited === 'new' || edited === null ? 'Add policy' : `Edit ${edited.name}`}
        onClose={close}
      >
        {edited === null ? null : <PolicyForm policy={asStored(edited, policies.data)} onClose={close} />}
      </Dialog>
      <Dialog open={granted !== null} title={`Grant ${granted?.name ?? ''} more`} onClose={() => setGranted(null)}>
        {granted === null ? null : <GrantForm policy={granted} onClose={() => setGranted(null)} />}
      </Dialog>
      <Dialog open={tried !== null} title={`Try content rules of ${tried?.name ?? ''}`} onClose={() => setTried(null)}>
        {tried === null ? null : <TryRules policy={tried} />}
      </Dialog>
    </>
  )
}

function NoPolicies({ add }: { add: ReactNode }) {
  return (
    <Empty
      title="No policies yet. Nothing is limited"
      action={add}
      command="spgw policies add search --budget-usd-month 200 --rpm 60 --attach project:default"
    >
      A policy sets budgets, rate limits, allowed models and content rules for the workspace, a project, an environment
      or a key.
    </Empty>
  )
}

/** As it is by now: somebody else may change it while it is edited. */
function asStored(edited: Policy | 'new', all: readonly Policy[] = []): Policy | null {
  return edited === 'new' ? null : (all.find(({ id }) => id === edited.id) ?? edited)
}

/** Of policies with budgets. */
function BudgetNotices({ policies }: { policies: readonly Policy[] }) {
  if (policies.length === 0) return null
  return (
    <>
      <UncountedBudgets budgets={policies} />
      <MissingBudgetAlert />
    </>
  )
}

/** A budget alone tells nobody that it is nearly used up. */
function MissingBudgetAlert() {
  const may = useMay('alerts.add')
  const { data: alerts } = useQuery(orpc.alerts.list.queryOptions({ input: {}, enabled: may }))
  const isReported = alerts?.some(({ active, on }) => active && on.includes('budget'))
  if (alerts === undefined || isReported) return null
  return (
    <p className="quiet">
      Nobody is told when a budget is nearly used up.{' '}
      <Link to="/settings/$section" params={{ section: 'alerts' }} search={keepScope}>
        Add an alert
      </Link>{' '}
      to be told at 50, 80 and 100%.
    </p>
  )
}

function hasBudget(policy: Policy): boolean {
  const { budget_usd_day, budget_usd_month, budget_tokens_day, budget_tokens_month } = policy
  return [budget_usd_day, budget_usd_month, budget_tokens_day, budget_tokens_month].some((budget) => budget !== null)
}

function useMayChange(): (policy: Policy) => boolean {
  const may = useMayCall()
  const { data: keys = [] } = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  return (policy) => projectsOfPolicy(policy, keys).every((project) => may('policies.edit', project))
}

function GrantForm({ policy: { name }, onClose }: { policy: Policy; onClose(): void }) {
  return (
    <div className="stack">
      <p className="quiet">Its budgets in USD are raised by this amount until then, and fall back by themselves.</p>
      <OperationForm
        operation="policies.grant"
        fixed={{ name }}
        submit="Grant"
        onDone={() => {
          toast({ tone: 'good', title: `Budgets of "${name}" raised` })
          onClose()
        }}
        onCancel={onClose}
      />
    </div>
  )
}

function PolicyButtons({ policy, onEdit, onGrant }: { policy: Policy; onEdit(): void; onGrant(): void }) {
  const { name, attached_to, budget_usd_day: day, budget_usd_month: month } = policy
  const { data: all = [] } = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const ending = useOperation('policies.edit')
  const keys = all.filter((key) => key.policy === name && key.state !== 'revoked')
  return (
    <>
      {policy.grants.length === 0 ? null : (
        <Button small busy={ending.busy} onClick={() => void ending.call({ name, clear: ['grants'] })}>
          End grant
        </Button>
      )}
      {day === null && month === null ? null : (
        <Button small onClick={onGrant}>
          Grant more
        </Button>
      )}
      <Button small onClick={onEdit}>
        Edit
      </Button>
      <OperationButton
        small
        operation="policies.remove"
        owned={policy.owned}
        input={{ name }}
        name={name}
        done={`Policy "${name}" removed`}
        consequence={
          <p>
            {attached_to.length === 0
              ? 'It is not attached to anything, so nothing changes.'
              : `Applies to ${attached_to.join(', ')}.`}
          </p>
        }
        {...(keys.length === 0 ? {} : { refusal: <RemovalRefusal keys={keys} /> })}
      >
        Remove
      </OperationButton>
    </>
  )
}

function RemovalRefusal({ keys }: { keys: readonly Key[] }) {
  return (
    <div className="stack-tight">
      <p>
        The policy cannot be removed while {pluralize(keys.length, 'key')} {keys.length === 1 ? 'names' : 'name'} it.
        Choose another policy there first:
      </p>
      <ul className="bullets">
        {keys.map(({ id, name, project, environment }) => (
          <li key={id}>
            <Link to="/keys/$key" params={{ key: id }} search={(before) => ({ ...keepScope(before), do: 'edit' })}>
              {name}
            </Link>{' '}
            <span className="quiet">
              {project}/{environment}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Every field that the contract has, so that what it learns shows here by itself. */
function PolicyForm({ policy, onClose }: { policy: Policy | null; onClose(): void }) {
  const attachments = useAttachments()
  const done = (answer: unknown) => {
    toast({ tone: 'good', title: `Policy "${(answer as Policy).name}" ${policy === null ? 'added' : 'updated'}` })
    onClose()
  }
  const { data: routes = [] } = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const models = [...new Set(routes.map(({ model }) => model))]
  const shared = {
    ...policyFields,
    suggestions: { attach: attachments, allowModels: models, denyModels: models },
    hints: {
      attach: 'The workspace, projects, environments or keys. Keys that choose this policy have it too',
      allowModels: 'Choose models of routes, or type names and patterns. Empty: all models',
      denyModels: 'Denied even if they are allowed elsewhere',
      contentRules: 'What to block, redact or flag in prompts and answers',
    },
    controls: { contentRules: ContentRulesField },
  }
  return policy === null ? (
    <OperationForm operation="policies.add" {...shared} submit="Add policy" onDone={done} onCancel={onClose} />
  ) : (
    <OperationForm
      operation="policies.edit"
      fixed={{ name: policy.name }}
      initial={inputOfPolicy(policy)}
      {...shared}
      submit="Save"
      onDone={done}
      onCancel={onClose}
    />
  )
}

function useAttachments(): string[] {
  const { data: keys = [] } = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const { data: projects = [] } = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const active = keys.filter(({ state }) => state === 'active')
  const names = Map.groupBy(active, ({ name }) => name)
  const fullWord = ({ project, environment, name }: Key) => `key:${project}/${environment}/${name}`
  return [
    'workspace',
    ...projects.flatMap(({ name, environments }) => [
      `project:${name}`,
      ...environments.map((environment) => `environment:${name}/${environment}`),
    ]),
    ...active.map((key) => (names.get(key.name)?.length === 1 ? `key:${key.name}` : fullWord(key))),
  ]
}
