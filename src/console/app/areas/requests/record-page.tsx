import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { describeRecord, isOwnAnswer, summarizeRecord } from '../../../../admin/contract/requests/what-happened.ts'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { orpc } from '../../client/admin.ts'
import { faultOf } from '../../client/fault.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { CopyButton, Empty, FaultNotice, Time, UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { FailuresBehind } from './failures-behind.tsx'
import { RecordActions } from './record-actions.tsx'
import { RecordBodies } from './record-bodies.tsx'
import { RecordDetails } from './record-details.tsx'
import { RecordSignals } from './record-signals.tsx'
import { RequestState } from './request-cells.tsx'
import { TimeLine } from './time-line.tsx'

const route = getRouteApi('/app/requests/$id')
const underWayMs = 1000

/** What happened to one request. */
export function RecordPage() {
  const { id } = route.useParams()
  const record = useQuery({
    ...orpc.requests.show.queryOptions({ input: { id } }),
    // Asked again only while the request is under way.
    refetchInterval: ({ state }) => (state.data?.state === 'admitted' ? underWayMs : false),
  })
  const above = (
    <Link to="/requests" search={keepScope}>
      Requests
    </Link>
  )
  if (record.data !== undefined) return <Record record={record.data} />
  return (
    <Page title={id} above={above}>
      {record.error === null ? <Loading /> : <NoRecord id={id} error={record.error} />}
    </Page>
  )
}

function NoRecord({ id, error }: { id: string; error: unknown }) {
  if (faultOf(error).code !== 'not_found') return <FaultNotice error={error} />
  return (
    <Empty title="Request not found" command={`spgw requests show ${id}`}>
      Every response has its request ID in the header <code>x-sp-request-id</code>. Records are kept for the time set in{' '}
      <code>records.retention</code>.
    </Empty>
  )
}

function Record({ record }: { record: RequestRow }) {
  const sentences = describeRecord(record).map((text, index) => ({ key: `${index}`, text }))
  return (
    <Page
      title={summarizeRecord(record)}
      wrap
      above={
        <Link to="/requests" search={keepScope}>
          Requests
        </Link>
      }
      actions={<RecordActions record={record} />}
    >
      <p className="row record-about">
        <RequestState row={record} short />
        <code className="breakable">{escapeControls(record.id)}</code>
        <CopyButton bare text={record.id} label="Copy ID" />
        <span className="quiet">
          <Time at={record.time} /> · {record.lane ?? 'No lane'} · <UntrustedText text={record.operation} />
        </span>
      </p>
      <FailuresBehind record={record} />
      <section className="card">
        <h2 className="card-head">Timeline</h2>
        <TimeLine record={record} />
      </section>
      <section className="card">
        <h2 className="card-head">What happened</h2>
        <ol className="story">
          {sentences.map(({ key, text }) => (
            <li key={key} className="breakable">
              <bdi>{escapeControls(text)}</bdi>
            </li>
          ))}
        </ol>
      </section>
      <div className="record-columns">
        <RecordSignals title="Policy" signals={record.policy_signals} none="No policy applied." />
        <RecordSignals title="Routing" signals={record.routing_signals} none={sayUnrouted(record)} />
      </div>
      <RecordDetails record={record} />
      <RecordBodies record={record} />
    </Page>
  )
}

const sayUnrouted = (record: Parameters<typeof isOwnAnswer>[0]) =>
  isOwnAnswer(record) ? 'Not routed. The gateway answered the request itself.' : 'The request ended before routing.'
