import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { describeRecord } from '../../../../admin/contract/requests/what-happened.ts'
import { orpc } from '../../client/admin.ts'
import { Count, Duration, FaultNotice, Money, RecordView, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'

/** The record of the request, as Requests shows it, in short. */
export function RecordBeside({ id }: { id: string }) {
  const record = useQuery(orpc.requests.show.queryOptions({ input: { id } }))
  if (record.error) return <FaultNotice error={record.error} onRetry={() => void record.refetch()} />
  if (record.data === undefined) return null
  const { provider, upstream_model, tokens, cost, duration_ms, first_byte_ms, key } = record.data
  return (
    <section className="card" aria-label="Record">
      <div className="row spread card-head">
        <h2>Request record</h2>
        <Link to="/requests/$id" params={{ id }} search={keepScope}>
          Open request
        </Link>
      </div>
      <p className="small quiet">
        Times measured at the gateway. The times above are measured in this browser and include the network.
      </p>
      <ol className="happened">
        {describeRecord(record.data).map((sentence) => (
          <li key={sentence}>
            <UntrustedText text={sentence} />
          </li>
        ))}
      </ol>
      <RecordView
        entries={[
          {
            label: 'Served by',
            value: <UntrustedText text={provider === null ? null : `${provider}, ${upstream_model ?? ''}`} />,
          },
          { label: 'Key', value: <UntrustedText text={key?.name ?? null} /> },
          {
            label: 'Tokens',
            value:
              tokens === null ? (
                'Unknown'
              ) : (
                <>
                  <Count value={tokens.input} /> input, <Count value={tokens.output} /> output
                </>
              ),
          },
          { label: 'Cost', value: <Money usd={cost?.usd ?? null} /> },
          { label: 'First byte', value: <Duration ms={first_byte_ms} /> },
          { label: 'Total', value: <Duration ms={duration_ms} /> },
          { label: 'ID', value: <code className="breakable">{id}</code> },
        ]}
      />
    </section>
  )
}
