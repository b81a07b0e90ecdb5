import { formatBytes } from '../../../../admin/contract/show-value.ts'
import type { Download } from './download.ts'

export function DownloadProgress({ download }: { download: Download }) {
  const { state, stage, done, total } = download
  if (state === 'idle') return null
  const share = total === null || total === 0 ? undefined : Math.min(1, done / total)
  const figures = state === 'receiving' ? `${formatBytes(done)} of ${formatBytes(total ?? done)}` : null
  return (
    <div className="stack-tight" role="status">
      <p className="row spread">
        <span>{stage}</span>
        <span className="number quiet">{figures}</span>
      </p>
      {state === 'done' ? null : (
        <progress className="progress" aria-label={stage} {...(share !== undefined && { value: share })} />
      )}
    </div>
  )
}
