import { FileText } from 'lucide-react'
import { UntrustedText } from '../parts/index.ts'
import { pathInWords } from './differences.ts'

/** Fields managed by a configuration file cannot be changed here; shown before somebody fills in a form in vain. */
export function ManagedNotice({ owned }: { owned: Readonly<Record<string, string>> }) {
  const files = [...new Set(Object.values(owned))]
  if (files.length === 0) return null
  return (
    <div className="notice">
      <FileText size={16} aria-hidden="true" />
      <div className="grow">
        {files.map((file) => (
          <p key={file}>
            Managed by the configuration files of owner{' '}
            <b>
              <UntrustedText text={file} />
            </b>
            : {fieldsOf(owned, file)}. Change the file and apply it, or use force here; the next apply restores what the
            file says.
          </p>
        ))}
      </div>
    </div>
  )
}

function fieldsOf(owned: Readonly<Record<string, string>>, file: string): string {
  const fields = Object.entries(owned)
    .filter(([, owner]) => owner === file)
    .map(([field]) => pathInWords(field).toLowerCase())
  return fields.length > 6 ? `${fields.slice(0, 6).join(', ')} and ${fields.length - 6} more` : fields.join(', ')
}
