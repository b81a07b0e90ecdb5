import { Link } from '@tanstack/react-router'
import { KeyRound, RotateCw, Waypoints } from 'lucide-react'
import { findOperation } from '../../contract/operations.ts'
import { useLive } from '../../live/live.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { CopyButton, OperationButton } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { curlOf } from './curl.ts'

export function RecordActions({ record }: { record: RequestRow }) {
  const { status } = useLive()
  const curl = curlOf(record, status?.gateway_url ?? 'http://127.0.0.1:8787')
  const canReplay = findOperation('requests.replay') !== undefined && record.state !== 'admitted'
  return (
    <>
      {curl === null ? null : <CopyButton small={false} text={curl} label="Copy as curl" />}
      {canReplay ? (
        <OperationButton
          operation="requests.replay"
          input={{ id: record.id }}
          name={record.id}
          icon={<RotateCw size={14} aria-hidden="true" />}
          done="Sent again; the new request shows up in the list."
        >
          Replay
        </OperationButton>
      ) : null}
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
