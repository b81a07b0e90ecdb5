import { escapeControls } from '../../../admin/contract/show-value.ts'
import { useScope } from '../session/scope.ts'

/** What a list covers, beside its heading. */
export function ScopeNote() {
  const { project, environment } = useScope()
  const covered = project === undefined ? 'All projects' : `${project}/${environment ?? 'all environments'}`
  return <bdi className="quiet truncate scope-note">{escapeControls(covered)}</bdi>
}
