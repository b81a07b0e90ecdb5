import { Link } from '@tanstack/react-router'
import { KeyRound, Waypoints } from 'lucide-react'
import { useLive } from '../../live/live.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { CopyButton } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { curlOf } from './curl.ts'
import { ExplainNow } from './explain-now.tsx'
import { ReplayButton } from './replay-button.tsx'

export function RecordActions({ record }: { record: RequestRow }) {
  const { status } = useLive()
  const curl = curlOf(record, status?.gateway_url ?? 'http://127.0.0.1:8787')
  return (
    <>
      {curl === null ? null : <CopyButton small={false} text={curl} label="Copy as curl" />}
      {record.state === 'admitted' ? null : <ReplayButton id={record.id} />}
      <ExplainNow record={record} />
      {record.key === null ? null : (
        <Link className="button button-plain" to="/keys/$key" params={{ key: record.key.id }} search={keepScope}>
          <KeyRound size={14} aria-hidden="true" />
          Open key
        </Link>
      )}
      {record.route === null ? null : (
        <Link className="button button-plain" to="/routing/$route" params={{ route: record.route }} search={keepScope}>
          <Waypoints size={14} aria-hidden="true" />
          Open route
        </Link>
      )}
    </>
  )
}
