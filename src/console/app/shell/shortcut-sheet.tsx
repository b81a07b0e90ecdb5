import { Dialog } from '../parts/dialog.tsx'
import { places } from './keys.ts'

const others = [
  { keys: ['/'], title: 'Search: a request id, a key, a model' },
  { keys: ['j'], title: 'Next row' },
  { keys: ['k'], title: 'Row before' },
  { keys: ['enter'], title: 'Open the row' },
  { keys: ['p'], title: 'Pause or resume the live list' },
  { keys: ['esc'], title: 'Close' },
  { keys: ['?'], title: 'This sheet' },
]

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose(): void }) {
  const rows = [...places.map(({ key, title }) => ({ keys: ['g', key], title })), ...others]
  return (
    <Dialog open={open} title="Keyboard" onClose={onClose}>
      <dl className="shortcuts">
        {rows.map(({ keys, title }) => (
          <div key={title} className="row spread">
            <dt>{title}</dt>
            <dd className="row">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
