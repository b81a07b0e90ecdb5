import { FileUp } from 'lucide-react'
import { type ChangeEvent, useId } from 'react'
import { fileOptions } from './file-state.ts'
import type { ConfigurationFile } from './use-configuration-file.ts'

const sample = ['providers:', '  - name: openai', '    kind: openai', '    credential: $' + '{OPENAI_API_KEY}'].join(
  '\n',
)

/** The file, the values of what it names, and how it is taken. */
export function FileFields({ file }: { file: ConfigurationFile }) {
  const id = useId()
  const { options, setOptions } = file
  const upload = async (event: ChangeEvent<HTMLInputElement>) => {
    const chosen = event.target.files?.[0]
    if (chosen !== undefined) file.write(await chosen.text())
  }
  return (
    <>
      <div className="field">
        <div className="row spread">
          <label htmlFor={`${id}-text`}>Configuration file</label>
          <label className="button button-plain button-small upload">
            <FileUp size={14} aria-hidden="true" />
            Choose file
            <input type="file" accept=".yaml,.yml,.json" onChange={(event) => void upload(event)} />
          </label>
        </div>
        <textarea
          id={`${id}-text`}
          className="input mono"
          rows={12}
          spellCheck={false}
          placeholder={sample}
          value={file.text}
          onChange={(event) => file.write(event.target.value)}
        />
      </div>
      {file.names.map((name) => (
        <VariableField
          key={name}
          name={name}
          value={file.values[name] ?? ''}
          onValue={(value) => file.setValue(name, value)}
        />
      ))}
      <div className="row checks">
        <label className="check">
          <input
            type="checkbox"
            checked={options.prune}
            onChange={(event) => setOptions({ ...options, prune: event.target.checked })}
          />
          {fileOptions.prune}
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={options.force}
            onChange={(event) => setOptions({ ...options, force: event.target.checked })}
          />
          {fileOptions.force}
        </label>
      </div>
    </>
  )
}

function VariableField({ name, value, onValue }: { name: string; value: string; onValue(value: string): void }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>
        Value of <code>{name}</code>
      </label>
      <input
        id={id}
        className="input mono"
        type="password"
        autoComplete="off"
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
    </div>
  )
}
