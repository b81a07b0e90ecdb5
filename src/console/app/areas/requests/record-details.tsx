import { escapeControls } from '../../../../admin/contract/show-value.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Bytes, Count, Duration, Money, RecordView, UntrustedText } from '../../parts/index.ts'

/** Tokens and cost, then client and sizes. */
export function RecordDetails({ record }: { record: RequestRow }) {
  return (
    <>
      <div className="record-columns">
        <section className="stack-tight">
          <h2>Tokens and cost</h2>
          <RecordView entries={tokenEntries(record)} />
        </section>
        <section className="stack-tight">
          <h2>Client and sizes</h2>
          <RecordView entries={clientEntries(record)} />
        </section>
      </div>
      {record.losses.length === 0 ? null : (
        <section className="card">
          <h2 className="card-head">Lost in translation</h2>
          <ul className="nested">
            {record.losses.map((loss) => (
              <li key={loss} className="breakable">
                {escapeControls(loss)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function tokenEntries({ tokens, cost, estimate_error }: RequestRow) {
  const price = { label: 'Cost', value: <Money usd={cost?.usd} /> }
  const version = { label: 'Price version', value: <UntrustedText text={cost?.price_version} /> }
  const above = estimate_error === null ? [] : [{ label: 'Above its hold', value: <Money usd={estimate_error} /> }]
  if (tokens === null) return [{ label: 'Tokens', value: 'Not counted' }, price, version, ...above]
  return [
    { label: 'Input', value: <Count value={tokens.input} /> },
    { label: 'Cache read', value: <Count value={tokens.cache_read} /> },
    { label: 'Cache write', value: <Count value={tokens.cache_write} /> },
    { label: 'Output', value: <Count value={tokens.output} /> },
    { label: 'Reasoning', value: <Count value={tokens.reasoning} /> },
    { label: 'Source', value: tokens.source === 'reported' ? 'Provider' : 'Estimate' },
    price,
    version,
    ...above,
  ]
}

function clientEntries(record: RequestRow) {
  const tags = Object.entries(record.tags).map(([name, value]) => `${name}=${value}`)
  return [
    {
      label: 'Scope',
      value: <UntrustedText text={record.project && `${record.project}/${record.environment ?? ''}`} />,
    },
    { label: 'Key', value: <UntrustedText text={record.key?.name} /> },
    { label: 'Method', value: <UntrustedText text={record.method} /> },
    { label: 'Path', value: <UntrustedText text={record.path} /> },
    { label: 'Address', value: <UntrustedText text={record.client.address} /> },
    { label: 'User agent', value: <UntrustedText text={record.client.user_agent} /> },
    { label: 'First byte', value: <Duration ms={record.first_byte_ms} /> },
    { label: 'Total', value: <Duration ms={record.duration_ms} /> },
    { label: 'Request size', value: <Bytes bytes={record.request_bytes} /> },
    { label: 'Response size', value: <Bytes bytes={record.response_bytes} /> },
    { label: 'Streamed', value: record.streamed ? 'Yes' : 'No' },
    { label: "Provider's request ID", value: <UntrustedText text={record.provider_request_id} /> },
    { label: 'Tags', value: <UntrustedText text={tags.join(', ')} /> },
  ]
}
