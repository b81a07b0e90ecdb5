import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Button, Dialog, OperationButton, QueryFault, StateBadge, Time, UntrustedText } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { DifferenceTable } from '../difference-table.tsx'
import { findDifferences } from '../differences.ts'
import type { Provider, Revision } from '../outputs.ts'
import { Section } from '../section.tsx'

/** They differ in every revision and say nothing of what it does. */
const always = ['number', 'active', 'created_at', 'created_by', 'added_at', 'id']
const shownAtFirst = 5

export function ProviderRevisions({ provider }: { provider: Provider }) {
  const revisions = useQuery(orpc.providers.revisions.queryOptions({ input: { name: provider.name } }))
  // By its number: which of them is active may change while two are compared.
  const [comparedNumber, setComparedNumber] = useState<number | null>(null)
  const [all, setAll] = useState(false)
  const sorted = [...(revisions.data ?? [])].sort((left, right) => right.number - left.number)
  const active = sorted.find((revision) => revision.active)
  const compared = sorted.find(({ number }) => number === comparedNumber) ?? null
  return (
    <Section title="Revisions" actions={<span className="quiet number">{sorted.length}</span>}>
      <QueryFault of={revisions} />
      <ol className="list" reversed>
        {(all ? sorted : sorted.slice(0, shownAtFirst)).map((revision) => (
          <RevisionRow
            key={revision.number}
            revision={revision}
            provider={provider}
            onCompare={({ number }) => setComparedNumber(number)}
          />
        ))}
      </ol>
      {!all && sorted.length > shownAtFirst ? (
        <Button small className="below" onClick={() => setAll(true)}>
          Show all {sorted.length}
        </Button>
      ) : null}
      <Dialog
        open={compared !== null}
        title={
          compared?.active
            ? `Revision ${compared.number}`
            : `Revision ${compared?.number} compared with the active revision`
        }
        onClose={() => setComparedNumber(null)}
      >
        {compared === null ? null : <Comparison revision={compared} others={sorted} active={active} />}
      </Dialog>
    </Section>
  )
}

interface RevisionRowProps {
  revision: Revision
  provider: Provider
  onCompare(revision: Revision): void
}

function RevisionRow({ revision, provider, onCompare }: RevisionRowProps) {
  const may = useMay('providers.rollback')
  const { number, active, created_at, created_by } = revision
  return (
    <li className="list-row">
      <span className="number revision-number">{number}</span>
      <span className="grow">
        <Time at={created_at} /> by <UntrustedText text={created_by} />
      </span>
      {active ? <StateBadge state="active" /> : null}
      <Button small onClick={() => onCompare(revision)}>
        Compare
      </Button>
      {active || !may ? null : (
        <OperationButton
          small
          operation="providers.rollback"
          input={{ name: provider.name, revision: number }}
          name={provider.name}
          done={`Revision ${number} is active`}
        >
          Make active
        </OperationButton>
      )}
    </li>
  )
}

interface ComparisonProps {
  revision: Revision
  others: readonly Revision[]
  active: Revision | undefined
}

/** The active one with the one before it; an older one with what making it active would change. */
function Comparison({ revision, others, active }: ComparisonProps) {
  const previous = others.find(({ number }) => number < revision.number)
  const [before, after] = revision.active ? [previous, revision] : [active, revision]
  const differences = findDifferences(before ?? {}, after, always)
  return (
    <div className="stack">
      <p className="quiet">
        {revision.active
          ? previous === undefined
            ? 'The first revision. All values were set here.'
            : `Changes since revision ${previous.number}.`
          : `What would change from revision ${active?.number} if this revision became active.`}
      </p>
      <DifferenceTable differences={differences} same="No differences." />
    </div>
  )
}
